#pragma once

#include "argosy/base/mutex.h"

namespace argosy::ps {

// Lets many steps run at once, or one exclusive section between them. Thread-safe.
class StepGate {
 public:
  void enter_step() {
    MutexLock lock(mutex_);
    changed_.wait(lock, [&]() ARGOSY_REQUIRES(mutex_) {
      return !exclusive_;
    });  // an exclusive section is short and waits for nothing but steps
    steps_ += 1;
  }
  void leave_step() {
    MutexLock lock(mutex_);
    steps_ -= 1;
    changed_.notify_all();
  }
  void enter_exclusive() {
    MutexLock lock(mutex_);
    changed_.wait(lock, [&]() ARGOSY_REQUIRES(mutex_) { return !exclusive_; });
    exclusive_ = true;
    changed_.wait(lock, [&]() ARGOSY_REQUIRES(mutex_) { return steps_ == 0; });
  }
  void leave_exclusive() {
    MutexLock lock(mutex_);
    exclusive_ = false;
    changed_.notify_all();
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  int steps_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool exclusive_ ARGOSY_GUARDED_BY(mutex_) = false;
};

}  // namespace argosy::ps
