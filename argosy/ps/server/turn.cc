#include "argosy/ps/server/turn.h"

#include <utility>

namespace argosy::ps {

bool Turn::try_lock() {
  std::lock_guard lock(mutex_);
  return !std::exchange(taken_, true);
}

bool Turn::try_lock_until(SteadyClock::time_point when) {
  std::unique_lock lock(mutex_);
  if (!free_.wait_until(lock, when, [this] { return !taken_; })) return false;
  taken_ = true;
  return true;
}

void Turn::unlock() {
  {
    std::lock_guard lock(mutex_);
    taken_ = false;
  }
  free_.notify_one();
}

}  // namespace argosy::ps
