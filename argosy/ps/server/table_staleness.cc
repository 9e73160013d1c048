#include "argosy/ps/server/table_staleness.h"

#include <algorithm>
#include <memory>
#include <numeric>

namespace argosy::ps {

uint64_t TableStaleness::Counts::total() const { return std::reduce(pushes.begin(), pushes.end()); }

// A job's tables do not change.
std::vector<TableStaleness::Table>& TableStaleness::tables_for(size_t count) {
  if (std::vector<Table>* there = tables_.load()) return *there;
  MutexLock lock(mutex_);
  if (owned_ == nullptr) owned_ = std::make_unique<std::vector<Table>>(count);
  tables_ = owned_.get();
  return *owned_;
}

void TableStaleness::observe(const State& state, const wire::PushRequest& push, uint64_t arrived) {
  std::vector<Table>& tables = tables_for(state.tables().size());
  for (const wire::Section& section : push.sections()) {
    const uint64_t read_at = state.tables().is_sparse(section.table()) ? push.rows_read_at() : push.dense_read_at();
    if (read_at == 0 || read_at > arrived) continue;
    const uint64_t staleness = arrived - read_at;
    const auto bound = std::ranges::lower_bound(kStalenessBounds, staleness);
    Table& table = tables[section.table()];
    table.pushes[static_cast<size_t>(bound - kStalenessBounds.begin())].fetch_add(1, std::memory_order_relaxed);
    table.sum.fetch_add(staleness, std::memory_order_relaxed);
  }
}

TableStaleness::Counts TableStaleness::of(size_t table) const {
  Counts counts;
  const std::vector<Table>* tables = tables_.load();
  if (tables == nullptr) return counts;
  const Table& counted = (*tables)[table];
  for (size_t i = 0; i < kStalenessCounts; ++i) counts.pushes[i] = counted.pushes[i].load(std::memory_order_relaxed);
  counts.sum = counted.sum.load(std::memory_order_relaxed);
  return counts;
}

}  // namespace argosy::ps
