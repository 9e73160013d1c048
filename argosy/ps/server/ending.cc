#include "argosy/ps/server/ending.h"

#include "argosy/base/mutex.h"
#include "argosy/base/notice.h"

namespace argosy::ps {

void Ending::end() {
  MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

Status Ending::fatal(const Status& status) {
  {
    MutexLock lock(mutex_);
    if (fatal_.ok()) fatal_ = status;
  }
  if (status.code() != Code::aborted) notice(LogLevel::error, "cannot go on: {}", status.message());
  refusing_ = true;
  changed_.notify_all();
  return Status::unavailable("{} cannot go on and has to be started again: {}", name_, status.message());
}

bool Ending::stop() {
  {
    MutexLock lock(mutex_);
    if (stopping_) return false;
    stopping_ = true;
  }
  refusing_ = true;
  changed_.notify_all();
  return true;
}

bool Ending::is_healthy() const {
  MutexLock lock(mutex_);
  return fatal_.ok();
}

Result<bool> Ending::wait(Deadline deadline) {
  MutexLock lock(mutex_);
  const bool over = changed_.wait_until(lock, deadline.when(),
                                        [this]() ARGOSY_REQUIRES(mutex_) { return ended_ || stopping_ || !fatal_.ok(); });
  if (!fatal_.ok()) return fatal_;
  return over;
}

bool Ending::wait_for_stop(Deadline deadline) {
  MutexLock lock(mutex_);
  return changed_.wait_until(lock, deadline.when(), [this]() ARGOSY_REQUIRES(mutex_) { return stopping_; });
}

}  // namespace argosy::ps
