#include "argosy/rpc/work_pool.h"

#include <utility>

#include "argosy/base/mutex.h"

namespace argosy::rpc {

WorkPool::WorkPool(const std::string& name, int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back(name, [this] { run(); });
}

void WorkPool::add(Source source, Work work) {
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    const auto [queue, is_new] = waiting_.try_emplace(source);
    queue->second.push_back(std::move(work));
    if (is_new) turns_.push_back(queue);
  }
  ready_.notify_one();
}

void WorkPool::stop() {
  Queues dropped;  // destroyed without the lock: it may hold replies
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    turns_.clear();
    dropped.swap(waiting_);
  }
  ready_.notify_all();
  threads_.clear();
}

WorkPool::Work WorkPool::next() {
  const auto queue = turns_.front();
  turns_.pop_front();
  Work work = std::move(queue->second.front());
  queue->second.pop_front();
  if (queue->second.empty()) {
    waiting_.erase(queue);
  } else {
    turns_.push_back(queue);
  }
  return work;
}

void WorkPool::run() {
  for (;;) {
    MutexLock lock(mutex_);
    ready_.wait(lock, [&]() ARGOSY_REQUIRES(mutex_) { return stopped_ || !turns_.empty(); });
    if (turns_.empty()) return;
    const Work work = next();
    lock.unlock();
    work();
  }
}

}  // namespace argosy::rpc
