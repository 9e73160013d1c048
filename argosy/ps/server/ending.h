#pragma once

#include <atomic>
#include <string>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"

namespace argosy::ps {

// Whether a server's process has something to end for: its workers are done, it cannot go on, or somebody stops it.
//
// Thread-safe.
class Ending {
 public:
  explicit Ending(std::string name) : name_(std::move(name)) {}

  // There is nothing to wait for any more.
  void end();
  // The process cannot go on; the first reason counts. Returns what callers are told. From now on it answers nobody. `aborted` is
  // no failure: another server takes this one's place in the process, which says so.
  Status fatal(const Status& status);
  // Answers nobody from now on. False: that was so before.
  bool stop();

  bool is_refusing() const { return refusing_; }
  bool is_healthy() const;  // not fatal

  // Until one of them: true for end() and stop(), the error for fatal(). False: the deadline came first.
  Result<bool> wait(Deadline deadline);
  // For a thread that does something from time to time: whether stop() came before the deadline.
  bool wait_for_stop(Deadline deadline);

 private:
  const std::string name_;  // of the server
  mutable Mutex mutex_;
  ConditionVariable changed_;
  bool ended_ ARGOSY_GUARDED_BY(mutex_) = false;
  bool stopping_ ARGOSY_GUARDED_BY(mutex_) = false;
  Status fatal_ ARGOSY_GUARDED_BY(mutex_);
  std::atomic<bool> refusing_ = false;  // stopping, or fatal
};

}  // namespace argosy::ps
