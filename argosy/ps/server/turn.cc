#include "argosy/ps/server/turn.h"

#include <utility>

#include "argosy/base/mutex.h"

namespace argosy::ps {

bool Turn::try_lock() {
  MutexLock lock(mutex_);
  return !std::exchange(taken_, true);
}

bool Turn::try_lock_until(SteadyClock::time_point when) {
  MutexLock lock(mutex_);
  if (!free_.wait_until(lock, when, [this]() ARGOSY_REQUIRES(mutex_) { return !taken_; })) return false;
  taken_ = true;
  return true;
}

void Turn::unlock() {
  {
    MutexLock lock(mutex_);
    taken_ = false;
  }
  free_.notify_one();
}

}  // namespace argosy::ps
