#include "argosy/rpc/read_turns.h"

#include <algorithm>
#include <utility>

#include "argosy/base/mutex.h"

namespace argosy::rpc {
namespace {

constexpr int kBurstRequests = 16;
constexpr std::chrono::milliseconds kBurstTime{1};
constexpr std::chrono::milliseconds kAloneAfter{100};  // without a request of anybody else
constexpr std::chrono::nanoseconds kTurnOfAThread{1000000};  // of those in a hurry, by each of the server's threads
constexpr int kTurnRequests = 2;
constexpr int kMostTurnsAtOnce = 4;  // per kTurnOfAThread; a server with more threads has longer ones

}  // namespace

ReadTurns::Pace ReadTurns::pace_of(int threads) {
  const int turns = std::clamp(threads, 1, kMostTurnsAtOnce);
  return {kTurnOfAThread / turns, std::max(1, kTurnRequests * threads / turns)};
}

bool ReadTurns::goes_on(Burst& burst, Source source, Time now) {
  const bool alone = is_alone(source, now);
  if (burst.waited || now - burst.began > kBurstTime) burst = {now, burst.waited ? pace_.requests : kBurstRequests};
  if (--burst.left > 0 || alone) return true;
  burst.waited = true;
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
    if (read()) next_turn = SteadyClock::now() + pace_.interval;
    read = nullptr;
    lock.lock();
  }
}

}  // namespace argosy::rpc
