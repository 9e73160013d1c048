#include "argosy/ps/communicator/thread_meeting.h"

#include <algorithm>

#include "argosy/base/mutex.h"

namespace argosy::ps {

void ThreadMeeting::open(int threads) {
  MutexLock lock(mutex_);
  threads_ = threads;
  outcome_ = failed_ = Status();
}

Status ThreadMeeting::arrive(const StepGradients& gradients, double wait_seconds) {
  MutexLock lock(mutex_);
  const Deadline deadline = Deadline::after_seconds(wait_seconds);
  const auto in_time = [&](auto done) { return changed_.wait_until(lock, deadline.when(), done); };
  if (!failed_.ok()) return failed_;
  waiting_.push_back(gradients);
  if (all_here()) {
    act(lock);
    return outcome_;
  }
  const uint64_t step = step_;
  const bool met = in_time([&]() ARGOSY_REQUIRES(mutex_) { return acting_ || step_ != step || !failed_.ok(); });
  if (!met || (!acting_ && step_ == step)) {
    std::erase_if(waiting_, [&](const StepGradients& mine) { return mine.batch_id == gradients.batch_id; });
    if (met) return failed_;
    return Status::deadline_exceeded(
        "{} of this worker's {} trainer threads waited {:.0f} s for the others' step; one may hang in its reader",
        waiting_.size() + 1, threads_, wait_seconds);
  }
  // The action has deadlines of its own.
  changed_.wait(lock, [&]() ARGOSY_REQUIRES(mutex_) { return step_ != step; });
  return outcome_;
}

Status ThreadMeeting::leave() {
  MutexLock lock(mutex_);
  if (threads_ > 0) threads_ -= 1;
  if (!all_here() || acting_) return {};
  act(lock);
  return outcome_;
}

void ThreadMeeting::fail(const Status& why) {
  MutexLock lock(mutex_);
  if (failed_.ok()) failed_ = why.with_context("another trainer thread of this worker has failed");
  changed_.notify_all();
}

bool ThreadMeeting::failed() const {
  MutexLock lock(mutex_);
  return !failed_.ok();
}

void ThreadMeeting::act(MutexLock& lock) {
  acting_ = true;
  std::swap(here_, waiting_);
  std::ranges::sort(here_, {}, &StepGradients::batch_id);
  changed_.notify_all();
  lock.unlock();
  Status outcome = action_(here_);
  lock.lock();
  acting_ = false;
  outcome_ = std::move(outcome);
  here_.clear();
  step_ += 1;
  changed_.notify_all();
}

int ThreadMeeting::threads() const {
  MutexLock lock(mutex_);
  return threads_;
}

}  // namespace argosy::ps
