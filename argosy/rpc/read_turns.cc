#include "argosy/rpc/read_turns.h"

#include <utility>

#include "argosy/base/mutex.h"

namespace argosy::rpc {
namespace {

constexpr int kBurstRequests = 16;
constexpr std::chrono::milliseconds kBurstTime{1};
constexpr std::chrono::milliseconds kAloneAfter{100};  // without a request of anybody else

}  // namespace

bool ReadTurns::goes_on(Burst& burst, Source source, Time now) {
  const bool alone = is_alone(source, now);
  if (now - burst.began > kBurstTime) burst = {now, 0};
  if (++burst.requests < kBurstRequests || alone) return true;
  burst = {};
  return false;
}

// Two threads may overwrite each other's: one change more or less is no matter.
bool ReadTurns::is_alone(Source source, Time now) {
  if (last_source_.load(std::memory_order_relaxed) != source) {
    last_source_.store(source, std::memory_order_relaxed);
    last_change_.store(now, std::memory_order_relaxed);
    return false;
  }
  return now - last_change_.load(std::memory_order_relaxed) > kAloneAfter;
}

void ReadTurns::wait_for_turn(Read read) {
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    waiting_.push_back(std::move(read));
  }
  changed_.notify_one();
}

void ReadTurns::stop() {
  std::deque<Read> dropped;  // destroyed without the lock
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
  }
  changed_.notify_one();
  thread_.join();
}

void ReadTurns::run() {
  Time next_turn = {};
  MutexLock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&]() ARGOSY_REQUIRES(mutex_) { return stopped_ || !waiting_.empty(); });
    changed_.wait_until(lock, next_turn, [&]() ARGOSY_REQUIRES(mutex_) { return stopped_; });
    if (stopped_) return;
    Read read = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (read()) next_turn = SteadyClock::now() + interval_;
    read = nullptr;
    lock.lock();
  }
}

}  // namespace argosy::rpc
