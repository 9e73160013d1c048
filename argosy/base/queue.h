#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"

namespace argosy {

enum class QueueState { ok, timed_out, closed };

// A bounded queue between threads. A full queue makes producers wait (back-pressure), an empty one consumers; close()
// wakes everybody: later pushes are refused, and pops drain what is left before they report `closed`.
//
// Thread-safe.
template <typename T>
class Queue {
 public:
  explicit Queue(size_t capacity) : capacity_(capacity == 0 ? 1 : capacity) {}

  // Takes `item` where the result is ok, and leaves it alone otherwise.
  QueueState push(T&& item, Deadline deadline) {
    MutexLock lock(mutex_);
    const bool ready = not_full_.wait_until(lock, deadline.when(),
                                            [&]() ARGOSY_REQUIRES(mutex_) { return closed_ || items_.size() < capacity_; });
    if (closed_) return QueueState::closed;
    if (!ready) return QueueState::timed_out;
    items_.push_back(std::move(item));
    lock.unlock();
    not_empty_.notify_one();
    return QueueState::ok;
  }

  // Moves the oldest item into `out`.
  QueueState pop(T& out, Deadline deadline) {
    MutexLock lock(mutex_);
    const bool ready =
        not_empty_.wait_until(lock, deadline.when(), [&]() ARGOSY_REQUIRES(mutex_) { return closed_ || !items_.empty(); });
    if (items_.empty()) return ready ? QueueState::closed : QueueState::timed_out;
    out = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    not_full_.notify_one();
    return QueueState::ok;
  }

  std::optional<T> try_pop() {
    MutexLock lock(mutex_);
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    not_full_.notify_one();
    return item;
  }

  void close() {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    not_full_.notify_all();
    not_empty_.notify_all();
  }

  size_t size() const {
    MutexLock lock(mutex_);
    return items_.size();
  }

 private:
  const size_t capacity_;
  mutable Mutex mutex_;
  ConditionVariable not_full_, not_empty_;
  std::deque<T> items_ ARGOSY_GUARDED_BY(mutex_);
  bool closed_ ARGOSY_GUARDED_BY(mutex_) = false;
};

}  // namespace argosy
