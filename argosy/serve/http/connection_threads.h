#pragma once

#include <httplib.h>

#include <deque>
#include <functional>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/serve/model/counters.h"

namespace argosy::serve {

// Threads that each serve one connection at a time; one more answers what comes beyond their number, where refusing() holds.
// Owned by the HTTP library, which calls shutdown() when it stops listening. Thread-safe.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  ConnectionThreads(size_t connections, ServeCounters& counters);

  void enqueue(std::function<void()> connection) override;
  void shutdown() override;  // ends when every connection has

  static bool refusing();  // whether the calling thread serves a connection beyond the limit

 private:
  using Queue = std::deque<std::function<void()>>;
  void work(bool refuses);
  bool take(bool refuses, std::function<void()>& connection);  // false: it should end

  const size_t connections_;
  ServeCounters& counters_;
  Mutex mutex_;
  ConditionVariable changed_;
  Queue served_ ARGOSY_GUARDED_BY(mutex_), refused_ ARGOSY_GUARDED_BY(mutex_);
  size_t open_ ARGOSY_GUARDED_BY(mutex_) = 0;  // served or about to be
  bool stopping_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::vector<Thread> threads_;
};

}  // namespace argosy::serve
