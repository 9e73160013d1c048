#pragma once

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"

namespace argosy::ps {

// Lets changes of the state happen side by side, and stops them all while a snapshot is cut.
//
// Thread-safe.
class Gate {
 public:
  // False: closed. After true, leave() has to follow.
  bool enter();
  // Waits while it is closed. After ok, leave() has to follow.
  Status enter_before(Deadline deadline);
  void leave();

  // Closes the gate and waits until everybody has left. deadline_exceeded, and open again, where somebody does not.
  Status close(Deadline deadline);
  void open();

 private:
  Mutex mutex_;
  ConditionVariable empty_, opened_;
  int inside_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool closed_ ARGOSY_GUARDED_BY(mutex_) = false;
};

}  // namespace argosy::ps
