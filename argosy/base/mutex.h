#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

// Which lock guards what, in the types: clang's -Wthread-safety (`make lint`) checks every access. The macros are ours because
// installed headers use them, and users of those need no abseil.
#if defined(__clang__)
#define ARGOSY_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define ARGOSY_THREAD_ANNOTATION(x)
#endif
// Of a field: touched only while `mutex` is held.
#define ARGOSY_GUARDED_BY(mutex) ARGOSY_THREAD_ANNOTATION(guarded_by(mutex))
// Of a function: called only while they are held, or while they are not.
#define ARGOSY_REQUIRES(...) ARGOSY_THREAD_ANNOTATION(exclusive_locks_required(__VA_ARGS__))
#define ARGOSY_EXCLUDES(...) ARGOSY_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
// Of a function that is right for a reason which the analysis cannot see; a comment gives the reason.
#define ARGOSY_UNCHECKED_LOCKING ARGOSY_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace argosy {

// std::mutex, known to the analysis. Locked by MutexLock.
class ARGOSY_THREAD_ANNOTATION(lockable) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() ARGOSY_THREAD_ANNOTATION(exclusive_lock_function()) { mutex_.lock(); }
  void unlock() ARGOSY_THREAD_ANNOTATION(unlock_function()) { mutex_.unlock(); }
  bool try_lock() ARGOSY_THREAD_ANNOTATION(exclusive_trylock_function(true)) { return mutex_.try_lock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a mutex from here to the end of the scope, but for what is between unlock() and lock().
class ARGOSY_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ARGOSY_THREAD_ANNOTATION(exclusive_lock_function(mutex)) : lock_(mutex.mutex_) {}
  ~MutexLock() ARGOSY_THREAD_ANNOTATION(unlock_function()) = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() ARGOSY_THREAD_ANNOTATION(exclusive_lock_function()) { lock_.lock(); }
  void unlock() ARGOSY_THREAD_ANNOTATION(unlock_function()) { lock_.unlock(); }

 private:
  friend class ConditionVariable;
  std::unique_lock<std::mutex> lock_;
};

// Holds two mutexes, in an order that cannot deadlock with another holder of both.
class ARGOSY_THREAD_ANNOTATION(scoped_lockable) TwoMutexLock {
 public:
  TwoMutexLock(Mutex& one, Mutex& other) ARGOSY_THREAD_ANNOTATION(exclusive_lock_function(one, other)) ARGOSY_UNCHECKED_LOCKING
      : lock_(one, other) {}
  ~TwoMutexLock() ARGOSY_THREAD_ANNOTATION(unlock_function()) ARGOSY_UNCHECKED_LOCKING {}
  TwoMutexLock(const TwoMutexLock&) = delete;
  TwoMutexLock& operator=(const TwoMutexLock&) = delete;

 private:
  std::scoped_lock<Mutex, Mutex> lock_;
};

// std::condition_variable for MutexLock. A predicate that reads guarded fields says so: `[&]() ARGOSY_REQUIRES(mutex_) { ... }`.
class ConditionVariable {
 public:
  template <typename Predicate>
  void wait(MutexLock& lock, Predicate predicate) ARGOSY_UNCHECKED_LOCKING {  // the caller's lock is the predicate's
    changed_.wait(lock.lock_, std::move(predicate));
  }
  // Whether the predicate holds.
  template <typename When, typename Predicate>
  bool wait_until(MutexLock& lock, const When& when, Predicate predicate) ARGOSY_UNCHECKED_LOCKING {
    return changed_.wait_until(lock.lock_, when, std::move(predicate));
  }
  template <typename Rep, typename Period, typename Predicate>
  bool wait_for(MutexLock& lock, std::chrono::duration<Rep, Period> time, Predicate predicate) ARGOSY_UNCHECKED_LOCKING {
    return changed_.wait_for(lock.lock_, time, std::move(predicate));
  }
  // Without a predicate a wait may also end for no reason.
  void wait(MutexLock& lock) { changed_.wait(lock.lock_); }
  template <typename When>
  std::cv_status wait_until(MutexLock& lock, const When& when) {
    return changed_.wait_until(lock.lock_, when);
  }
  template <typename Rep, typename Period>
  std::cv_status wait_for(MutexLock& lock, std::chrono::duration<Rep, Period> time) {
    return changed_.wait_for(lock.lock_, time);
  }
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace argosy
