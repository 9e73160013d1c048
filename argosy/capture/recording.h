#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <memory>

#include "argosy/base/status.h"

// Work on a device that is recorded once and replayed, without the time that the CPU takes to queue each kernel of it.
namespace argosy::capture {

// A CUDA graph, on a GPU. The work is a function that queues kernels and waits for none of them; a replay runs the same kernels
// on the same memory, which is the recording's own for what the work allocates. What the work returns as an error, and what torch
// throws in it, ends the call. Confined to one thread.
class Recording {
 public:
  using Work = std::function<Status()>;

  virtual ~Recording() = default;
  // Runs the work as it is, on the stream of the recording: after what the thread has queued, and before what it queues next.
  // Libraries choose their kernels the first time that they are called, which a recording could not take.
  virtual Status rehearse(const Work& work) = 0;
  // Calls the work to take down its kernels; none of them runs. REQUIRES: a new recording, or one whose record() failed.
  virtual Status record(const Work& work) = 0;
  // Queues the kernels on the thread's stream. REQUIRES: record() has succeeded.
  virtual Status replay() = 0;
};

// For the thread's current device of this type. An error says why such a device records nothing.
Result<std::unique_ptr<Recording>> make_recording(c10::DeviceType device);

// While one lives, make_recording() makes what `make` makes, for every device. For tests.
class OtherRecordings {
 public:
  using Make = std::function<Result<std::unique_ptr<Recording>>()>;
  explicit OtherRecordings(Make make);
  ~OtherRecordings();
  OtherRecordings(const OtherRecordings&) = delete;
};

}  // namespace argosy::capture
