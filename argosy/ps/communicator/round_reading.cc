#include "argosy/ps/communicator/round_reading.h"

#include "argosy/base/mutex.h"

namespace argosy::ps {

void RoundReading::begin() {
  MutexLock lock(mutex_);
  read_ = Window();
  samples_ = 0;
  dropped_.clear();
  lines_.clear();
}

void RoundReading::add(BatchId batch, uint32_t samples, std::span<const FileLineRange> lines) {
  MutexLock lock(mutex_);
  if (read_.contains(batch)) return;
  for (const FileLineRange& one : lines) lines_.emplace(batch, one);
  read_.add(std::span(&batch, 1));
  samples_ += samples;
}

std::vector<BatchLines> RoundReading::lines(std::span<const BatchId> batches) const {
  MutexLock lock(mutex_);
  std::vector<BatchLines> lines;
  if (lines_.empty()) return lines;
  for (const BatchId batch : batches) {
    const auto [begin, end] = lines_.equal_range(batch);
    for (auto one = begin; one != end; ++one) lines.push_back({.batch = batch, .made_of = one->second});
  }
  return lines;
}

void RoundReading::pushed(std::span<const BatchId> batches) {
  MutexLock lock(mutex_);
  if (lines_.empty()) return;
  for (const BatchId batch : batches) lines_.erase(batch);
}

void RoundReading::drop(BatchId batch) {
  MutexLock lock(mutex_);
  dropped_.insert(index_of(batch));
}

PassReading RoundReading::finish(uint32_t runs) const {
  MutexLock lock(mutex_);
  PassReading reading;
  if (runs > 0) {
    reading.fed = true;
    reading.batches = runs;
    reading.empty.assign(dropped_.begin(), dropped_.end());
    reading.failed_runs = static_cast<uint32_t>(dropped_.size());
    return reading;
  }
  reading.samples = samples_;
  reading.batches = read_.above().empty() ? read_.through() : *read_.above().rbegin() + 1;
  for (uint32_t i = read_.through(); i < reading.batches; ++i) {
    if (!read_.above().contains(i)) reading.empty.push_back(i);
  }
  return reading;
}

}  // namespace argosy::ps
