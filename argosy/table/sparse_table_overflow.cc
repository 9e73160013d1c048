// What a table does with rows beyond its memory limit.
#include "argosy/base/log.h"
#include "argosy/table/cold_access.h"
#include "argosy/table/cold_store.h"
#include "argosy/table/shard.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

constexpr double kOverflowRetrySeconds = 1;

}  // namespace

bool SparseTable::may_evict(const Shard& shard) const { return exports_.load() == 0 && !shard.is_cut(); }

void SparseTable::evict(Shard& shard, ShardLock& lock) {
  if (!shard.wants_eviction() || !may_evict(shard)) return;
  if (overflow_failed_.load(std::memory_order_relaxed)) {
    MutexLock failed_lock(overflow_mutex_);
    if (overflow_retry_ > SteadyClock::now()) return;
  }
  ColdTurn::Holder turn = shard.turn().try_take();
  if (turn == nullptr) {
    if (!shard.is_far_beyond_limit()) return;  // its holder may well be evicting
    lock.unlock();
    Result<ColdTurn::Holder> taken = take_cold_turn(shard);
    lock.lock();
    if (!taken.ok()) return keep_overflow_error(taken.status());
    turn = std::move(*taken);
    if (!shard.wants_eviction() || !may_evict(shard)) return;
  }
  Shard::Eviction eviction = shard.begin_eviction();
  const std::shared_ptr<ColdStore> store = shard.cold();
  lock.unlock();
  const Status written = eviction.batch.empty() ? Status() : store->write(std::move(eviction.batch));
  lock.lock();
  shard.finish_eviction(eviction, written.ok(), may_evict(shard));
  if (!written.ok()) keep_overflow_error(written);
}

void SparseTable::keep_overflow_error(const Status& status) {
  MutexLock lock(overflow_mutex_);
  if (overflow_error_.ok()) {
    log_error("table '{}': rows beyond the memory limit stay in memory, because they cannot be written: {}", spec_.name,
              status.message());
  }
  overflow_error_ = status;
  overflow_retry_ = Deadline::after_seconds(kOverflowRetrySeconds).when();
  overflow_failed_ = true;
}

Status SparseTable::check_room() {
  if (!overflow_failed_.load(std::memory_order_relaxed)) return {};
  {
    MutexLock lock(overflow_mutex_);
    if (overflow_retry_ > SteadyClock::now()) return overflow_trouble();
    overflow_retry_ = {};
  }
  for (const auto& shard : shards_) {
    ShardLock lock(shard->mutex());
    evict(*shard, lock);
  }
  MutexLock lock(overflow_mutex_);
  if (overflow_retry_ > SteadyClock::now()) return overflow_trouble();
  log_info("table '{}': rows beyond the memory limit can be written again", spec_.name);
  overflow_error_ = {};
  overflow_failed_ = false;
  return {};
}

Status SparseTable::overflow_trouble() const {
  const std::string what = fmt::format("table '{}' has more rows than its memory limit allows, and cannot move any to disk: {}",
                                       spec_.name, overflow_error_.message());
  if (overflow_error_.code() == Code::resource_exhausted) return Status::unavailable("{}; make room there", what);
  return Status::data_loss("{}", what);
}

void SparseTable::set_overflow_read_fault(std::function<Status()> fault) {
  if (cold_) cold_->set_read_fault(std::move(fault));
}

}  // namespace argosy::table
