#include "argosy/ps/communicator/gradients.h"

#include <algorithm>

namespace argosy::ps {
namespace {

template <typename T>
void grow(std::vector<T>& values, size_t size) {
  if (values.size() < size) values.resize(size);
}

// The next `count` places of a vector that is used up from the front.
template <typename T>
std::span<T> next(std::vector<T>& memory, size_t& used, size_t count) {
  const std::span<T> piece(memory.data() + used, count);
  used += count;
  return piece;
}

const float* copy_or_null(const float* from, size_t count, std::vector<float>& memory, size_t& used) {
  if (from == nullptr) return nullptr;
  const auto piece = next(memory, used, count);
  std::copy_n(from, count, piece.data());
  return piece.data();
}

}  // namespace

void GradientCopy::assign(const JobSpec& spec, const StepGradients& gradients) {
  batch_ = gradients.batch_id;
  samples_ = gradients.samples;
  size_t keys = 0, floats = 0;
  for (const DenseGradient& dense : gradients.dense) floats += dense.values.size();
  for (const RowGradients& rows : gradients.rows) {
    keys += rows.keys.size();
    floats += rows.keys.size() * (spec.tables[static_cast<size_t>(rows.table)].width + 2);
  }
  grow(keys_, keys);
  grow(floats_, floats);
  values_.assign(spec.tables.size(), {});
  dense_.clear();
  rows_.clear();

  size_t keys_used = 0, floats_used = 0;
  for (const DenseGradient& dense : gradients.dense) {
    const auto values = next(floats_, floats_used, dense.values.size());
    std::ranges::copy(dense.values, values.begin());
    values_[static_cast<size_t>(dense.table)] = values;
    dense_.push_back({.table = dense.table, .values = values});
  }
  for (const RowGradients& rows : gradients.rows) {
    const auto own_keys = next(keys_, keys_used, rows.keys.size());
    std::ranges::copy(rows.keys, own_keys.begin());
    const size_t count = rows.keys.size() * spec.tables[static_cast<size_t>(rows.table)].width;
    const auto values = next(floats_, floats_used, count);
    std::copy_n(rows.values, count, values.data());
    values_[static_cast<size_t>(rows.table)] = values;
    rows_.push_back({.table = rows.table,
                     .keys = own_keys,
                     .values = values.data(),
                     .shows = copy_or_null(rows.shows, rows.keys.size(), floats_, floats_used),
                     .clicks = copy_or_null(rows.clicks, rows.keys.size(), floats_, floats_used)});
  }
}

std::span<float> GradientCopy::values(int table) { return values_[static_cast<size_t>(table)]; }

void MergedGradients::merge(const JobSpec& spec, std::span<const StepGradients> batches, float scale) {
  tables_.resize(spec.tables.size());
  for (Table& table : tables_) table.touched = table.statistics = false, table.keys = 0;
  batches_.clear();
  samples_.clear();
  for (const StepGradients& batch : batches) {
    batches_.push_back(batch.batch_id);
    samples_.push_back(batch.samples);
    for (const RowGradients& rows : batch.rows) {
      Table& table = tables_[static_cast<size_t>(rows.table)];
      table.keys += rows.keys.size();
      table.statistics = table.statistics || rows.shows != nullptr || rows.clicks != nullptr;
    }
  }
  for (size_t i = 0; i < tables_.size(); ++i) {
    Table& table = tables_[i];
    if (!spec.tables[i].sparse) continue;
    table.sums.begin(spec.tables[i].width, table.keys);
    if (!table.statistics) continue;
    table.shows.assign(table.keys, 0);
    table.clicks.assign(table.keys, 0);
  }
  for (const StepGradients& batch : batches) {
    for (const DenseGradient& gradient : batch.dense) {
      // A mean of statistics is a statistic; a sum is none.
      const bool mean = spec.tables[static_cast<size_t>(gradient.table)].rule == optim::kRunningMean;
      add_dense(gradient, mean ? 1.0f / static_cast<float>(batches.size()) : scale);
    }
    for (const RowGradients& gradients : batch.rows) add_rows(gradients, scale);
  }

  dense_.clear();
  rows_.clear();
  for (size_t i = 0; i < tables_.size(); ++i) {
    const Table& table = tables_[i];
    if (!table.touched) continue;
    const int number = static_cast<int>(i);
    if (!spec.tables[i].sparse) {
      dense_.push_back({.table = number, .values = table.dense});
      continue;
    }
    rows_.push_back({.table = number,
                     .keys = table.sums.keys(),
                     .values = table.sums.values().data(),
                     .shows = table.statistics ? table.shows.data() : nullptr,
                     .clicks = table.statistics ? table.clicks.data() : nullptr});
  }
}

void MergedGradients::add_dense(const DenseGradient& gradient, float scale) {
  Table& table = tables_[static_cast<size_t>(gradient.table)];
  table.dense.resize(gradient.values.size());
  float* sum = table.dense.data();
  const float* values = gradient.values.data();
  if (!table.touched) {
    for (size_t i = 0; i < gradient.values.size(); ++i) sum[i] = values[i] * scale;
  } else {
    for (size_t i = 0; i < gradient.values.size(); ++i) sum[i] += values[i] * scale;
  }
  table.touched = true;
}

void MergedGradients::add_rows(const RowGradients& gradients, float scale) {
  Table& table = tables_[static_cast<size_t>(gradients.table)];
  table.touched = true;
  table.sums.add(gradients.keys, gradients.values, scale);
  if (!table.statistics) return;
  for (size_t i = 0; i < gradients.keys.size(); ++i) {
    const size_t slot = table.sums.slot_of(gradients.keys[i]);
    table.shows[slot] += gradients.shows ? gradients.shows[i] : 1.0f;
    table.clicks[slot] += gradients.clicks ? gradients.clicks[i] : 0.0f;
  }
}

}  // namespace argosy::ps
