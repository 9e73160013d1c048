#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

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

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Work> waiting_;  // guarded by mutex_
  bool stopped_ = false;  // guarded by mutex_
  std::vector<Thread> threads_;
};

}  // namespace argosy::rpc
