#include "argosy/collective/watch.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "argosy/base/mutex.h"
#include "argosy/base/notice.h"
#include "argosy/collective/guard.h"

namespace argosy::collective {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kFarewell = std::chrono::seconds(3);  // how long the store's host stays for those who still write to it
constexpr int kBeatsOfAReport = 3;

std::string beat_key(int rank) { return "beat/" + std::to_string(rank); }
std::string left_key(int rank) { return "left/" + std::to_string(rank); }
std::string what_of(const std::string& beat) { return beat.substr(std::min(beat.size(), beat.find(' ') + 1)); }
int64_t seconds(Clock::duration time) { return std::chrono::duration_cast<std::chrono::seconds>(time).count(); }

}  // namespace

Watch::Watch(c10::intrusive_ptr<c10d::Store> store, int rank, int size, WatchOptions options)
    : rank_(rank), size_(size), options_(std::move(options)), store_(std::move(store)), next_heard_(Clock::now()) {
  thread_ = Thread("watch", [this] { run(); });
}

Watch::~Watch() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  stop_changed_.notify_all();
  thread_.join();
  const bool told = guarded([&] {
                      const MutexLock lock(store_mutex_);
                      store_->set(left_key(rank_), std::string("1"));
                    }).ok();
  if (rank_ != 0 || !told) return;
  std::vector<std::string> all;
  for (int other = 1; other < size_; ++other) all.push_back(left_key(other));
  if (all.empty() || is_lost()) return;
  const MutexLock lock(store_mutex_);
  c10d::Store& store = *store_;
  static_cast<void>(guarded([&] { store.wait(all, kFarewell); }));  // an error: some have not left in time
}

void Watch::doing(std::string what) {
  const MutexLock lock(mutex_);
  doing_ = std::move(what);
}

bool Watch::is_lost() {
  const MutexLock lock(mutex_);
  return lost_;
}

std::string Watch::text() {
  const MutexLock lock(mutex_);
  return doing_;
}

std::string Watch::read(const std::string& key) {
  std::string value;
  const MutexLock lock(store_mutex_);
  c10d::Store& store = *store_;
  const Status status = guarded([&] {
    if (!store.check({key})) return;
    const auto bytes = store.get(key);
    value.assign(bytes.begin(), bytes.end());
  });
  return status.ok() ? value : "";
}

bool Watch::beat(int64_t count) {
  const std::string value = std::to_string(count) + " " + text();
  const MutexLock lock(store_mutex_);
  c10d::Store& store = *store_;
  return guarded([&] { store.set(beat_key(rank_), value); }).ok();
}

void Watch::run() {
  for (int64_t count = 0;; ++count) {
    if (beat(count)) {
      look_after_the_next();
      hear_of_a_loss();
    } else if (!host_left_) {
      lose("rank 0, where the job's processes meet, hung up");
    }
    MutexLock lock(mutex_);
    if (stop_changed_.wait_for(lock, options_.beat, [&]() ARGOSY_REQUIRES(mutex_) { return stop_; })) return;
  }
}

void Watch::look_after_the_next() {
  const int next = (rank_ + 1) % size_;
  if (next == rank_) return;
  const std::string now = read(beat_key(next));
  if (now != next_beat_ || !read(left_key(next)).empty()) {
    next_beat_ = now;
    next_heard_ = Clock::now();
    return;
  }
  if (Clock::now() - next_heard_ < options_.peer_timeout) return;
  const std::string words = fmt::format("rank {} gave no sign of life for {} s{}", next, seconds(options_.peer_timeout),
                                        now.empty() ? "" : ", last seen in " + what_of(now));
  const MutexLock lock(store_mutex_);
  c10d::Store& store = *store_;
  static_cast<void>(guarded([&] { store.set("lost", words); }));
}

void Watch::hear_of_a_loss() {
  host_left_ = host_left_ || !read(left_key(0)).empty();
  if (const std::string words = read("lost"); !words.empty()) lose(words);
}

void Watch::lose(const std::string& who) {
  {
    const MutexLock lock(mutex_);
    if (lost_ || stop_) return;
    lost_ = true;
  }
  notice(LogLevel::error, "rank {}: {}", rank_, who);
  notice_consequence("another rank");
  if (options_.on_loss) options_.on_loss(who);
}

std::string Watch::report() {
  std::vector<std::string> before(size_);
  for (int other = 0; other < size_; ++other) before[other] = read(beat_key(other));
  {
    MutexLock lock(mutex_);  // the time in which the others beat; the end of this process cuts it short
    stop_changed_.wait_for(lock, kBeatsOfAReport * options_.beat, [&]() ARGOSY_REQUIRES(mutex_) { return stop_; });
  }
  const std::string mine = text();
  std::string lines;
  bool lost = false;
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    const std::string now = read(beat_key(other)), what = what_of(now);
    if (!read(left_key(other)).empty()) {
      lines += fmt::format("\n  rank {} has left the job", other);
    } else if (now.empty()) {
      lines += fmt::format("\n  rank {} cannot be heard of: rank 0, where the job's processes meet, is gone", other);
    } else if (now == before[other]) {
      lost = true;
      lines += fmt::format("\n  rank {} is lost: no sign of life for {:.1f} s, last seen in {}", other,
                           std::chrono::duration<double>(kBeatsOfAReport * options_.beat).count(), what);
    } else if (what != mine) {
      lines += fmt::format("\n  rank {} is in {}", other, what);
    }
  }
  const MutexLock lock(mutex_);
  lost_ = lost_ || lost;
  return lines;
}

}  // namespace argosy::collective
