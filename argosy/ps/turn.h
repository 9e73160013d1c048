#pragma once

#include <condition_variable>
#include <mutex>

#include "argosy/base/clock.h"

namespace argosy::ps {

// The turn to change a server's state: one change at a time has it, from the question whether it may be done, over the write of
// its record, to its end; so the order of the log is the order of the state. It is no lock over data: whoever only reads
// never waits for it, and whoever waits for it does so until a deadline.
//
// Thread-safe. Fits std::unique_lock, also with a time point or std::try_to_lock.
class Turn {
 public:
  void lock();
  bool try_lock();
  bool try_lock_until(SteadyClock::time_point when);
  void unlock();

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;  // guarded by mutex_
};

}  // namespace argosy::ps
