#pragma once

#include <memory>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"

namespace argosy::table {

// Whose turn it is to move rows of a shard to disk or to change them there: one caller's at a time. The shard's lock is not held
// over that, so that calls for rows in memory go on. Taken before the shard's lock, or with it by try_take() only; the holder of
// one turn never waits for another, but for who takes those of all shards in their order.
//
// Thread-safe.
class ColdTurn {
 public:
  struct GiveBack {
    void operator()(ColdTurn* turn) const { turn->give_back(); }
  };
  using Holder = std::unique_ptr<ColdTurn, GiveBack>;  // null: somebody else has it

  Holder try_take() {
    MutexLock lock(mutex_);
    return take_unlocked();
  }
  Holder take(const Deadline& deadline) {
    MutexLock lock(mutex_);
    given_back_.wait_until(lock, deadline.when(), [&]() ARGOSY_REQUIRES(mutex_) { return !taken_; });
    return take_unlocked();
  }

 private:
  Holder take_unlocked() ARGOSY_REQUIRES(mutex_) {
    if (taken_) return nullptr;
    taken_ = true;
    return Holder(this);
  }
  void give_back() {
    MutexLock lock(mutex_);
    taken_ = false;
    given_back_.notify_one();
  }

  Mutex mutex_;
  ConditionVariable given_back_;
  bool taken_ ARGOSY_GUARDED_BY(mutex_) = false;
};

}  // namespace argosy::table
