#include "argosy/ps/client/push_rounder.h"

#include <algorithm>

#include "argosy/ps/spec/packed.h"
#include "argosy/ps/spec/wire_format.h"

namespace argosy::ps {
namespace {

constexpr size_t kRowResidualBytes = size_t{128} << 20;  // of all tables of a worker
constexpr size_t kIndexBytes = 48;                       // of a row in a hash map, about

size_t most_rows(size_t width, size_t tables) {
  return std::max<size_t>(kRowResidualBytes / tables / (width * sizeof(float) + kIndexBytes), 1024);
}

}  // namespace

PushRounder::PushRounder(const JobSpec& spec) : spec_(spec), residuals_(spec.tables.size()) {
  size_t sparse = 0;
  for (const TableSpec& table : spec.tables) {
    rounds_ = rounds_ || table.wire_format != WireFormat::float32;
    feedback_ = feedback_ || table.wire_format == WireFormat::int8;
    sparse += table.sparse && table.wire_format == WireFormat::int8 ? 1 : 0;
  }
  MutexLock lock(mutex_);
  for (size_t i = 0; i < spec.tables.size(); ++i) {
    const TableSpec& table = spec.tables[i];
    if (table.sparse && table.wire_format == WireFormat::int8)
      residuals_[i].rows = std::make_unique<RowResiduals>(table.width, most_rows(table.width, sparse));
  }
}

void PushRounder::round_dense(int table, uint64_t begin, std::span<const float> gradient, std::byte* to) {
  const TableSpec& spec = spec_.tables[static_cast<size_t>(table)];
  if (spec.wire_format != WireFormat::int8) return round_to_wire(spec.wire_format, gradient, kWireBlock, to);
  MutexLock lock(mutex_);
  std::vector<float>& all = residuals_[static_cast<size_t>(table)].dense;
  all.resize(spec.size);
  const auto left = std::span(all).subspan(begin, gradient.size());
  sum_.resize(gradient.size());
  for (size_t i = 0; i < gradient.size(); ++i) sum_[i] = gradient[i] + left[i];
  round_to_wire(spec.wire_format, sum_, kWireBlock, to);
  left_by_rounding(spec.wire_format, sum_, kWireBlock, to, left);
}

void PushRounder::round_rows(int table, std::span<const uint64_t> keys, std::span<const float> rows, std::byte* to) {
  const TableSpec& spec = spec_.tables[static_cast<size_t>(table)];
  if (spec.wire_format != WireFormat::int8) return round_to_wire(spec.wire_format, rows, spec.width, to);
  MutexLock lock(mutex_);
  RowResiduals& residuals = *residuals_[static_cast<size_t>(table)].rows;
  sum_.assign(rows.begin(), rows.end());
  residuals.add_to(keys, sum_);
  round_to_wire(spec.wire_format, sum_, spec.width, to);
  left_.resize(rows.size());
  left_by_rounding(spec.wire_format, sum_, spec.width, to, left_);
  const uint64_t before = residuals.dropped();
  residuals.keep(keys, left_);
  if (residuals.dropped() > before) dropped_.add(static_cast<double>(residuals.dropped() - before));
}

}  // namespace argosy::ps
