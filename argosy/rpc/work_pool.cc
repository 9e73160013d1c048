#include "argosy/rpc/work_pool.h"

#include <utility>

#include "argosy/base/mutex.h"

namespace argosy::rpc {

WorkPool::WorkPool(const std::string& name, int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back(name, [this] { run(); });
}

void WorkPool::add(Work work) {
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    waiting_.push_back(std::move(work));
  }
  ready_.notify_one();
}

void WorkPool::stop() {
  std::deque<Work> dropped;  // destroyed without the lock: it may hold replies
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
  }
  ready_.notify_all();
  threads_.clear();
}

void WorkPool::run() {
  for (;;) {
    MutexLock lock(mutex_);
    ready_.wait(lock, [&]() ARGOSY_REQUIRES(mutex_) { return stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
  }
}

}  // namespace argosy::rpc
