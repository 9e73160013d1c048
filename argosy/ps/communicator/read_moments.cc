#include "argosy/ps/communicator/read_moments.h"

#include <algorithm>
#include <utility>

namespace argosy::ps {

void ReadMoments::keep_oldest_of(ReadAt& kept, const ReadAt& other) {
  kept.resize(std::max(kept.size(), other.size()));
  for (size_t i = 0; i < other.size(); ++i) keep_oldest(kept[i], other[i]);
}

void ReadMoments::begun(BatchId batch) {
  MutexLock lock(mutex_);
  PerThread& thread = threads_[std::this_thread::get_id()];
  thread.begun = batch;
  thread.moment = {.rows = {}, .dense = dense_};
}

void ReadMoments::pulled(const ReadAt& rows) {
  MutexLock lock(mutex_);
  pulled_locked(rows);
}

void ReadMoments::read_copy() {
  MutexLock lock(mutex_);
  pulled_locked(rows_of_copy_.empty() ? dense_ : rows_of_copy_);
}

void ReadMoments::received_rows(const ReadAt& rows) {
  MutexLock lock(mutex_);
  rows_of_copy_ = rows;
}

void ReadMoments::pulled_locked(const ReadAt& rows) {
  PerThread& thread = threads_[std::this_thread::get_id()];
  thread.moment.dense = dense_;
  keep_oldest_of(thread.begun ? batches_[*thread.begun].rows : thread.moment.rows, rows);
}

void ReadMoments::received(ReadAt dense) {
  MutexLock lock(mutex_);
  dense_ = std::move(dense);
}

void ReadMoments::computed(BatchId batch) {
  MutexLock lock(mutex_);
  PerThread& thread = threads_[std::this_thread::get_id()];
  Moment& moment = batches_[batch];
  keep_oldest_of(moment.rows, std::exchange(thread.moment.rows, {}));
  moment.dense = thread.moment.dense.empty() ? dense_ : thread.moment.dense;
  if (thread.begun == batch) thread.begun.reset();
}

void ReadMoments::step_done() {
  MutexLock lock(mutex_);
  threads_[std::this_thread::get_id()].moment.dense = dense_;
}

void ReadMoments::forget_batches() {
  MutexLock lock(mutex_);
  threads_.clear();
  batches_.clear();
}

ReadMoments::Moment ReadMoments::take(std::span<const BatchId> batches) {
  MutexLock lock(mutex_);
  Moment oldest;
  for (const BatchId batch : batches) {
    const auto found = batches_.find(batch);
    if (found == batches_.end()) continue;
    keep_oldest_of(oldest.rows, found->second.rows);
    keep_oldest_of(oldest.dense, found->second.dense);
    batches_.erase(found);
  }
  return oldest;
}

}  // namespace argosy::ps
