#include "argosy/ps/server/gate.h"

#include "argosy/base/mutex.h"

namespace argosy::ps {

bool Gate::enter() {
  MutexLock lock(mutex_);
  if (closed_) return false;
  ++inside_;
  return true;
}

Status Gate::enter_before(Deadline deadline) {
  MutexLock lock(mutex_);
  if (!opened_.wait_until(lock, deadline.when(), [this]() ARGOSY_REQUIRES(mutex_) { return !closed_; })) {
    return Status::deadline_exceeded("a snapshot has kept changes waiting until the deadline");
  }
  ++inside_;
  return {};
}

void Gate::leave() {
  MutexLock lock(mutex_);
  if (--inside_ == 0) empty_.notify_all();
}

Status Gate::close(Deadline deadline) {
  MutexLock lock(mutex_);
  closed_ = true;
  if (empty_.wait_until(lock, deadline.when(), [this]() ARGOSY_REQUIRES(mutex_) { return inside_ == 0; })) return {};
  closed_ = false;
  opened_.notify_all();
  return Status::deadline_exceeded("{} changes of the state are still under way", inside_);
}

void Gate::open() {
  MutexLock lock(mutex_);
  closed_ = false;
  opened_.notify_all();
}

}  // namespace argosy::ps
