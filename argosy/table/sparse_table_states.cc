// Single states of rows, for who saves and loads a model by its variables.
#include <algorithm>
#include <cstring>

#include "argosy/base/mutex.h"
#include "argosy/table/cold_access.h"
#include "argosy/table/rule_states.h"
#include "argosy/table/shard.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

Status check_scalar(std::string_view table, size_t state, size_t numbers) {
  if (numbers == 1) return {};
  return Status::invalid_argument("table '{}': state {} is one number for the whole table, {} were given", table, state, numbers);
}

}  // namespace

Status SparseTable::copy_state(size_t state, std::span<const uint64_t> keys, std::span<float> out) {
  ASSIGN_OR_RETURN(const StatePlace place, find_state(rule_.get(), state, spec_.name));
  if (place.scalar) {
    RETURN_IF_ERROR(check_scalar(spec_.name, state, out.size()));
    MutexLock lock(step_mutex_);
    out[0] = scalars_[place.index];
    return {};
  }
  RETURN_IF_ERROR(check_rows(keys, out.size()));
  const float initial = rule_->states()[state].initial;
  return for_blocks(keys, {.leave = true},
                    [&](const Block& block) { return copy_state_block(block, place.index, initial, out.data()); });
}

Status SparseTable::copy_state_block(const Block& block, size_t element_state, float initial, float* out) {
  const size_t width = layout_.width();
  auto& [shard, probes, slots, cold] = block;
  for (size_t i = 0; i < probes.size(); ++i) {
    float* const target = out + probes[i].position * width;
    const float* const row = slots[i] != kNoSlot ? shard.row(slots[i]) : cold.row(i);
    if (row == nullptr) {
      std::fill_n(target, width, initial);
    } else {
      std::memcpy(target, layout_.states(row).data() + element_state * width, width * sizeof(float));
    }
  }
  return {};
}

Status SparseTable::set_state(size_t state, std::span<const uint64_t> keys, std::span<const float> values) {
  ASSIGN_OR_RETURN(const StatePlace place, find_state(rule_.get(), state, spec_.name));
  if (place.scalar) {
    RETURN_IF_ERROR(check_scalar(spec_.name, state, values.size()));
    MutexLock lock(step_mutex_);
    scalars_[place.index] = values[0];
    return {};
  }
  RETURN_IF_ERROR(check_rows(keys, values.size()));
  return for_blocks_in_use(keys, [&](const Block& block) { return set_state_block(block, place.index, values.data()); });
}

Status SparseTable::set_state_block(const Block& block, size_t element_state, const float* values) {
  const size_t width = layout_.width();
  auto& [shard, probes, slots, cold] = block;
  shard.keep({slots, probes.size()});
  const auto step = static_cast<uint32_t>(steps() + 1);  // as set_rows
  for (size_t i = 0; i < probes.size(); ++i) {
    if (slots[i] == kNoSlot) {
      ASSIGN_OR_RETURN(slots[i], find_or_create(shard, probes[i]));
    }
    shard.keep_waiting(probes[i].key);
    shard.waiting().erase(probes[i].key);
    float* const row = shard.row(slots[i]);
    RowLayout::touch(row);
    RowLayout::header(row).seen_step = step;
    std::memcpy(layout_.states(row).data() + element_state * width, values + probes[i].position * width, width * sizeof(float));
  }
  return {};
}

}  // namespace argosy::table
