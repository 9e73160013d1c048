#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"

namespace argosy::rpc {

// Threads that run pieces of work. Those of one source run in the order in which they came; sources take turns, so that one with
// a thousand pieces delays another's next by one piece, not by a thousand. Thread-safe. stop() lets running work finish,
// destroys what was not begun, and joins; safe to call twice, not from the work itself.
class WorkPool {
 public:
  using Work = std::function<void()>;
  using Source = uint64_t;

  WorkPool(const std::string& name, int threads);
  ~WorkPool() { stop(); }

  void add(Source source, Work work);  // dropped after stop()
  void stop();

 private:
  using Queues = std::map<Source, std::deque<Work>>;

  void run();
  Work next() ARGOSY_REQUIRES(mutex_);  // REQUIRES: somebody waits

  Mutex mutex_;
  ConditionVariable ready_;
  Queues waiting_ ARGOSY_GUARDED_BY(mutex_);               // none is empty
  std::deque<Queues::iterator> turns_ ARGOSY_GUARDED_BY(mutex_);  // each of waiting_ once
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::vector<Thread> threads_;
};

}  // namespace argosy::rpc
