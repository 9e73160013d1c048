#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"

namespace argosy::rpc {

// Threads that run pieces of work in the order in which they came. Thread-safe. stop() lets running work finish, destroys
// what was not begun, and joins; safe to call twice, not from the work itself.
class WorkPool {
 public:
  using Work = std::function<void()>;

  WorkPool(const std::string& name, int threads);
  ~WorkPool() { stop(); }

  void add(Work work);  // dropped after stop()
  void stop();

 private:
  void run();

  Mutex mutex_;
  ConditionVariable ready_;
  std::deque<Work> waiting_ ARGOSY_GUARDED_BY(mutex_);
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::vector<Thread> threads_;
};

}  // namespace argosy::rpc
