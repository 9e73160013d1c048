#pragma once

#include <functional>
#include <string>
#include <utility>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/base/thread.h"

namespace argosy::engine {

// Makes the next item on a thread of its own while its user works on the one before: never more than one ahead.
//
// Owns that thread. next() is called by one thread and waits for as long as `make` takes, whose own waits have deadlines; the
// destructor waits for a call of `make` that runs.
template <typename T>
class Prefetcher {
 public:
  // Fills an item, which may be one that was used before; false: there are no more.
  using Make = std::function<Result<bool>(T& item)>;

  Prefetcher(std::string thread_name, Make make)
      : make_(std::move(make)), thread_(std::move(thread_name), [this] { make_until_stopped(); }) {}
  ~Prefetcher() {
    {
      MutexLock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

  // Exchanges `item` for the next one, and begins the one after it. After false or an error the same is returned again.
  Result<bool> next(T& item) {
    MutexLock lock(mutex_);
    changed_.wait(lock, [this]() ARGOSY_REQUIRES(mutex_) { return ready_; });
    if (!made_.ok() || !*made_) return made_;
    std::swap(item, item_);
    ready_ = false;
    lock.unlock();
    changed_.notify_all();
    return true;
  }

 private:
  void make_until_stopped() {
    for (bool more = true; more;) {
      Result<bool> made = make_(item_);
      more = made.ok() && *made;
      MutexLock lock(mutex_);
      made_ = std::move(made);
      ready_ = true;
      changed_.notify_all();
      changed_.wait(lock, [&]() ARGOSY_REQUIRES(mutex_) { return stopped_ || !more || !ready_; });
      if (stopped_) return;
    }
  }

  const Make make_;
  Mutex mutex_;
  ConditionVariable changed_;
  T item_{};                   // the thread's while !ready_, else who holds mutex_ has it
  Result<bool> made_ ARGOSY_GUARDED_BY(mutex_) = false;
  bool ready_ ARGOSY_GUARDED_BY(mutex_) = false;
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
  Thread thread_;  // last: it uses the others
};

}  // namespace argosy::engine
