#include "argosy/base/mutex.h"

#include <gtest/gtest.h>

#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/thread.h"

namespace argosy {
namespace {

class Counter {
 public:
  void add() {
    {
      MutexLock lock(mutex_);
      ++count_;
    }
    changed_.notify_all();
  }
  bool wait_for(int count, double seconds) {
    MutexLock lock(mutex_);
    return changed_.wait_until(lock, Deadline::after_seconds(seconds).when(),
                               [&]() ARGOSY_REQUIRES(mutex_) { return count_ >= count; });
  }
  void swap(Counter& other) {
    TwoMutexLock lock(mutex_, other.mutex_);
    std::swap(count_, other.count_);
  }
  int count() const {
    MutexLock lock(mutex_);
    return count_;
  }

 private:
  mutable Mutex mutex_;
  ConditionVariable changed_;
  int count_ ARGOSY_GUARDED_BY(mutex_) = 0;
};

// In a thread of its own: a mutex is not tried by who holds it.
bool is_free(Mutex& mutex) {
  bool taken = false;
  Thread("tries", [&] {
    if (!mutex.try_lock()) return;
    taken = true;
    mutex.unlock();
  }).join();
  return taken;
}

TEST(Mutex, ThreadsTakeTurns) {
  Counter counter;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back("adds", [&] {
        for (int j = 0; j < 1000; ++j) counter.add();
      });
    }
  }
  EXPECT_EQ(counter.count(), 4000);
}

TEST(ConditionVariable, WakesWhoWaitsAndGivesUpInTime) {
  Counter counter;
  EXPECT_FALSE(counter.wait_for(1, 0.01));
  Thread adds("adds", [&] { counter.add(); });
  EXPECT_TRUE(counter.wait_for(1, 30));
}

TEST(MutexLock, CanBeLetGoForAWhile) {
  Mutex mutex;
  MutexLock lock(mutex);
  EXPECT_FALSE(is_free(mutex));
  lock.unlock();
  EXPECT_TRUE(is_free(mutex));
  lock.lock();
  EXPECT_FALSE(is_free(mutex));
}

TEST(TwoMutexLock, CannotDeadlockInTheOtherOrder) {
  Counter one, other;
  one.add();
  {
    Thread forth("swaps", [&] {
      for (int i = 0; i < 1000; ++i) one.swap(other);
    });
    Thread back("swaps", [&] {
      for (int i = 0; i < 1000; ++i) other.swap(one);
    });
  }
  EXPECT_EQ(one.count() + other.count(), 1);
}

}  // namespace
}  // namespace argosy
