#include "argosy/serve/http/connection_threads.h"

#include <chrono>

namespace argosy::serve {
namespace {

thread_local bool this_thread_refuses = false;
constexpr std::chrono::seconds kLook{1};

}  // namespace

ConnectionThreads::ConnectionThreads(size_t connections, ServeCounters& counters)
    : connections_(connections), counters_(counters) {
  for (size_t i = 0; i < connections; ++i) threads_.emplace_back("serve-conn", [this] { work(false); });
  threads_.emplace_back("serve-refuse", [this] { work(true); });
}

bool ConnectionThreads::refusing() { return this_thread_refuses; }

void ConnectionThreads::enqueue(std::function<void()> connection) {
  {
    MutexLock lock(mutex_);
    if (open_ < connections_) {
      ++open_;
      served_.push_back(std::move(connection));
    } else {
      refused_.push_back(std::move(connection));
    }
    counters_.set_connections(static_cast<int64_t>(open_));
  }
  changed_.notify_all();
}

bool ConnectionThreads::take(bool refuses, std::function<void()>& connection) {
  MutexLock lock(mutex_);
  Queue& queue = refuses ? refused_ : served_;
  while (queue.empty()) {
    if (stopping_) return false;
    changed_.wait_for(lock, kLook);
  }
  connection = std::move(queue.front());
  queue.pop_front();
  return true;
}

void ConnectionThreads::work(bool refuses) {
  this_thread_refuses = refuses;
  for (std::function<void()> connection; take(refuses, connection);) {
    connection();
    if (refuses) continue;
    MutexLock lock(mutex_);
    --open_;
    counters_.set_connections(static_cast<int64_t>(open_));
  }
}

void ConnectionThreads::shutdown() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (Thread& thread : threads_) thread.join();
}

}  // namespace argosy::serve
