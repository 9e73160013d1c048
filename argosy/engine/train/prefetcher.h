#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

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
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

  // Exchanges `item` for the next one, and begins the one after it. After false or an error the same is returned again.
  Result<bool> next(T& item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_; });
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
      std::unique_lock lock(mutex_);
      made_ = std::move(made);
      ready_ = true;
      changed_.notify_all();
      changed_.wait(lock, [&] { return stopped_ || !more || !ready_; });
      if (stopped_) return;
    }
  }

  const Make make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  T item_{};                   // the thread's while !ready_, else guarded by mutex_
  Result<bool> made_ = false;  // guarded by mutex_, as are those below
  bool ready_ = false;
  bool stopped_ = false;
  Thread thread_;  // last: it uses the others
};

}  // namespace argosy::engine
