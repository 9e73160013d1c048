#pragma once

#include <functional>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/base/step_gradients.h"

namespace argosy::ps {

// Where the trainer threads of one worker meet in each step: the last to come acts for all, on everybody's gradients in
// the order of their batches; then all go on. Gradients are read where they lie, since their threads wait.
//
// Thread-safe, but for open().
class ThreadMeeting {
 public:
  using Action = std::function<Status(std::span<const StepGradients>)>;

  explicit ThreadMeeting(Action action) : action_(std::move(action)) {}

  // From now on `threads` threads take part. REQUIRES: nobody waits.
  void open(int threads);

  // Returns what the action of this step returned; at the deadline, where not all have come, how many are missing.
  Status arrive(const StepGradients& gradients, double wait_seconds);

  // This thread takes part no more. Where the others wait for it alone, it acts for them.
  Status leave();

  // A thread ends by an error: a step without its part is not taken. Who waits, and who arrives before the next open(), gets
  // `why`.
  void fail(const Status& why);
  bool failed() const;

  // Threads that still take part.
  int threads() const;

 private:
  bool all_here() const ARGOSY_REQUIRES(mutex_) { return !waiting_.empty() && static_cast<int>(waiting_.size()) == threads_; }
  // `lock` holds mutex_, but while the action runs.
  void act(MutexLock& lock) ARGOSY_REQUIRES(mutex_) ARGOSY_UNCHECKED_LOCKING;

  const Action action_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  int threads_ ARGOSY_GUARDED_BY(mutex_) = 1;
  uint64_t step_ ARGOSY_GUARDED_BY(mutex_) = 0;                    // meetings that are over
  bool acting_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::vector<StepGradients> waiting_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<StepGradients> here_;      // what the action sees; its thread's alone while it runs
  Status outcome_ ARGOSY_GUARDED_BY(mutex_);                       // of the last meeting
  Status failed_ ARGOSY_GUARDED_BY(mutex_);                        // of a thread; the first
};

}  // namespace argosy::ps
