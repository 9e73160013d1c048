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

void ChangeTracker::seal(Worker& worker) {
  if (worker.pending.empty()) return;
  worker.sealed_keys += worker.pending.size();
  worker.sealed.push_back(std::make_shared<const std::vector<uint64_t>>(std::exchange(worker.pending, {})));
}

// Sorting when the list has doubled costs little per key and keeps it within twice the number of rows.
void ChangeTracker::compact(Worker& worker) {
  for (const auto& part : worker.sealed) worker.pending.insert(worker.pending.end(), part->begin(), part->end());
  worker.sealed.clear();
  worker.sealed_keys = 0;
  sort_unique(worker.pending);
  worker.unique = worker.pending.size();
}

void ChangeTracker::record(uint32_t worker, std::span<const uint64_t> keys) {
  MutexLock lock(mutex_);
  for (auto& [other, state] : workers_) {
    if (other == worker) continue;
    state.pending.insert(state.pending.end(), keys.begin(), keys.end());
    if (state.sealed_keys + state.pending.size() > 2 * state.unique + kSmall) compact(state);
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
    std::vector<uint64_t> taken = std::exchange(state.pending, {});
    if (taken.size() > most) {
      state.pending.assign(taken.begin() + static_cast<std::ptrdiff_t>(most), taken.end());
      taken.resize(most);
    }
    state.unique = state.pending.size();
    state.taken = std::make_shared<const std::vector<uint64_t>>(std::move(taken));
    state.number = number;
  }
  const bool more = state.sealed_keys + state.pending.size() > 0;
  return Taken{state.taken == nullptr ? std::vector<uint64_t>() : *state.taken, more};
}

std::vector<ChangeTracker::Pending> ChangeTracker::pending() {
  MutexLock lock(mutex_);
  std::vector<Pending> all;
  for (auto& [worker, state] : workers_) {
    seal(state);
    Pending& one = all.emplace_back();
    one.worker_ = worker;
    one.parts_ = state.sealed;
    if (state.taken != nullptr) one.parts_.push_back(state.taken);
  }
  return all;
}

std::vector<uint64_t> ChangeTracker::Pending::keys() const {
  std::vector<uint64_t> all;
  for (const Part& part : parts_) all.insert(all.end(), part->begin(), part->end());
  sort_unique(all);
  return all;
}

void ChangeTracker::restore(std::map<uint32_t, std::vector<uint64_t>> keys_of_workers) {
  MutexLock lock(mutex_);
  workers_.clear();
  for (auto& [worker, keys] : keys_of_workers) {
    Worker& state = workers_[worker];
    state.pending = std::move(keys);
    compact(state);
  }
}

}  // namespace argosy::table
