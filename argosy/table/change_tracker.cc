#include "argosy/table/change_tracker.h"

#include <algorithm>
#include <utility>

#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"

namespace argosy::table {
namespace {

constexpr size_t kSmall = 4096;

void sort_unique(std::vector<uint64_t>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace

void ChangeTracker::track(uint32_t worker) {
  MutexLock lock(mutex_);
  workers_[worker] = {};
}

void ChangeTracker::forget(uint32_t worker) {
  MutexLock lock(mutex_);
  workers_.erase(worker);
}

void ChangeTracker::clear() {
  MutexLock lock(mutex_);
  workers_.clear();
}

// Sorting when the list has doubled costs little a key and keeps it within twice the number of rows.
void ChangeTracker::compact(Worker& worker) {
  sort_unique(worker.pending);
  worker.unique = worker.pending.size();
}

void ChangeTracker::record(uint32_t worker, std::span<const uint64_t> keys) {
  MutexLock lock(mutex_);
  for (auto& [other, state] : workers_) {
    if (other == worker) continue;
    state.pending.insert(state.pending.end(), keys.begin(), keys.end());
    if (state.pending.size() > 2 * state.unique + kSmall) compact(state);
  }
}

Result<ChangeTracker::Taken> ChangeTracker::take(uint32_t worker, uint64_t number, uint64_t most) {
  MutexLock lock(mutex_);
  const auto [entry, is_new] = workers_.try_emplace(worker);
  Worker& state = entry->second;
  if (number < state.number) {
    return Status::aborted("worker {} asks for changed rows with number {}, but number {} has been answered", worker, number,
                           state.number);
  }
  if (number > state.number || is_new || ARGOSY_PLANTED("changes_told_once")) {
    compact(state);
    state.taken = std::exchange(state.pending, {});
    if (state.taken.size() > most) {
      state.pending.assign(state.taken.begin() + static_cast<std::ptrdiff_t>(most), state.taken.end());
      state.taken.resize(most);
    }
    state.unique = state.pending.size();
    state.number = number;
  }
  return Taken{state.taken, !state.pending.empty()};
}

std::vector<ChangeTracker::Pending> ChangeTracker::pending() const {
  MutexLock lock(mutex_);
  std::vector<Pending> all;
  for (const auto& [worker, state] : workers_) {
    Pending one{.worker = worker, .keys = state.pending};
    one.keys.insert(one.keys.end(), state.taken.begin(), state.taken.end());
    sort_unique(one.keys);
    all.push_back(std::move(one));
  }
  return all;
}

void ChangeTracker::restore(std::vector<Pending> pending) {
  MutexLock lock(mutex_);
  workers_.clear();
  for (Pending& one : pending) {
    Worker& state = workers_[one.worker];
    state.pending = std::move(one.keys);
    compact(state);
  }
}

}  // namespace argosy::table
