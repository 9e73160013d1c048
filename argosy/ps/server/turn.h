#pragma once

#include <mutex>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"

namespace argosy::ps {

// The queue of changes of a server's state. Who is at its head has the turn: from the question whether its change may be done,
// over the write of its record, to the change itself. The next question can only be answered by the state that this change
// leaves, so there is nothing to be gained by letting two changes overlap; and so the order of the log is the order of the state.
//
// It is a place in a queue and no lock over data: nothing is protected by it but the order of changes, readers never
// asks for it, and who does waits until a deadline. So it may be kept while a disk works.
//
// Thread-safe. Fits std::unique_lock with a time point or std::try_to_lock.
class Turn {
 public:
  bool try_lock();
  bool try_lock_until(SteadyClock::time_point when);
  void unlock();

 private:
  Mutex mutex_;  // held for a few instructions
  ConditionVariable free_;
  bool taken_ ARGOSY_GUARDED_BY(mutex_) = false;
};

}  // namespace argosy::ps
