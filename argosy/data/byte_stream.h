#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy::data {

// Ends every wait of the streams that were given it, from any thread and for good. Thread-safe.
class StopSignal {
 public:
  StopSignal();
  Status status() const;  // an error where the system had no file descriptor left for it
  void stop();
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  int fd() const { return event_.get(); }  // becomes readable at stop(), for poll

 private:
  Fd event_;
  std::atomic<bool> stopped_{false};
};

// Bytes from a file, a decompressor or a command. Thread-compatible.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Fills the front of `room` and returns how much. 0 is the end, and says that all was well up to it: a cut-off archive
  // or a command that failed is an error instead. After StopSignal::stop() the answer is `cancelled`.
  // REQUIRES: room is not empty.
  virtual Result<size_t> read(std::span<char> room) = 0;
};

// Opens `path` for reading. A missing file or a folder is an error that names the path.
Result<Fd> open_for_reading(const std::string& path);

// Reads an open file, pipe or device; `name` is for messages. `stop` must outlive the stream.
std::unique_ptr<ByteStream> read_fd(Fd fd, std::string name, const StopSignal& stop);

// Waits until `fd` is readable, or until stop(), which is `cancelled`.
Status wait_readable(int fd, const StopSignal& stop);

// The system's words for errno.
std::string system_reason(int error);

}  // namespace argosy::data
