#include "argosy/table/sparse_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>

#include "argosy/base/mutex.h"
#include "argosy/base/random.h"
#include "argosy/table/cold_access.h"
#include "argosy/table/cold_store.h"
#include "argosy/table/key_batch.h"
#include "argosy/table/row_arena.h"
#include "argosy/table/shard.h"

namespace argosy::table {
namespace {

constexpr size_t kMaxBlockRows = 256;
constexpr size_t kBlockFloats = 16384;  // a block's gradients, gathered

// What a thread needs for one call, kept for the next.
struct Scratch {
  KeyBatch keys;
  std::array<uint32_t, kMaxBlockRows> slots;
  std::array<int64_t, kMaxBlockRows> rows;
  std::vector<float> gradients;
  ColdRows cold;
};

Scratch& scratch() {
  thread_local Scratch mine;
  return mine;
}

}  // namespace

Result<std::unique_ptr<SparseTable>> SparseTable::make(SparseSpec spec, const StoreOptions& options) {
  RETURN_IF_ERROR(spec.check());
  RETURN_IF_ERROR(options.check().with_context("table '{}'", spec.name));
  std::unique_ptr<optim::Rule> rule;
  if (spec.mode == Mode::gradient) {
    ASSIGN_OR_RETURN(rule, optim::make_rule(spec.rule, spec.hyper_parameters));
  }
  std::unique_ptr<SparseTable> table(new SparseTable(std::move(spec), options, std::move(rule)));
  RETURN_IF_ERROR(table->open(options).with_context("table '{}'", table->spec_.name));
  return table;
}

SparseTable::SparseTable(SparseSpec spec, const StoreOptions& options, std::unique_ptr<optim::Rule> rule)
    : spec_(std::move(spec)),
      rule_(std::move(rule)),
      layout_(spec_, rule_.get()),
      codec_(layout_.width(), layout_.element_states()),
      shard_bits_(static_cast<unsigned>(std::countr_zero(options.shards))),
      block_rows_(std::clamp<size_t>(kBlockFloats / layout_.width(), 1, kMaxBlockRows)),
      scalars_(rule_ ? rule_->initial_scalars() : std::vector<float>()) {}

SparseTable::~SparseTable() = default;

Status SparseTable::open(const StoreOptions& options) {
  ASSIGN_OR_RETURN(arena_, RowArena::make(layout_.words()));
  uint32_t most_rows = 0;
  if (options.mem_limit_bytes > 0) {
    ASSIGN_OR_RETURN(cold_, ColdStore::open(options.directory, spec_.name, layout_.bytes(), options.overflow_fault));
    constexpr size_t kIndexBytes = 10;  // a row's share of the index, on average
    const uint64_t rows = options.mem_limit_bytes / (layout_.bytes() + kIndexBytes) / options.shards;
    most_rows = static_cast<uint32_t>(std::clamp<uint64_t>(rows, 1, kNoSlot));
  }
  for (uint32_t i = 0; i < options.shards; ++i) {
    shards_.push_back(std::make_unique<Shard>(i, spec_, layout_, *arena_, cold_, most_rows));
  }
  return {};
}

Status SparseTable::check_rows(std::span<const uint64_t> keys, size_t numbers) const {
  if (numbers == keys.size() * layout_.width() && keys.size() < kNoSlot) return {};
  return Status::invalid_argument("table '{}': {} keys of width {} need {} numbers, {} were given", spec_.name, keys.size(),
                                  layout_.width(), keys.size() * layout_.width(), numbers);
}

Status SparseTable::for_blocks(std::span<const uint64_t> keys, const ColdAccess& access, const BlockWork& work) {
  Scratch& mine = scratch();
  const uint32_t first = first_shard_.fetch_add(1, std::memory_order_relaxed);
  const size_t last_shard = shards_.size() - 1;
  for (size_t done = 0; done < keys.size(); done += KeyBatch::kMost) {
    mine.keys.deal(keys.subspan(done, std::min(KeyBatch::kMost, keys.size() - done)), static_cast<uint32_t>(done), shard_bits_);
    for (size_t i = 0; i <= last_shard; ++i) {
      Shard& shard = *shards_[(first + i) & last_shard];
      std::span<const Probe> probes = mine.keys.of(shard.number());
      if (probes.empty()) continue;
      ShardLock lock(shard.mutex());
      while (!probes.empty()) {
        const auto some = probes.first(std::min(block_rows_, probes.size()));
        RETURN_IF_ERROR(
            find_rows(shard, lock, some, mine.slots.data(), access, mine.cold).with_context("table '{}'", spec_.name));
        RETURN_IF_ERROR(work({shard, some, mine.slots.data(), mine.cold}));
        probes = probes.subspan(some.size());
      }
      evict(shard, lock);
    }
  }
  return {};
}

Status SparseTable::for_blocks_in_use(std::span<const uint64_t> keys, const BlockWork& work) {
  return for_blocks(keys, {}, work);
}

bool SparseTable::drawn(uint64_t key) const {
  return spec_.admission.kind != Admission::Kind::probability ||
         Random(spec_.admission.seed, key).uniform() < spec_.admission.probability;
}

bool SparseTable::keeps_waiting() const {
  return spec_.admission.kind == Admission::Kind::count || spec_.admission.kind == Admission::Kind::show_click;
}

RowCounters SparseTable::counters_of(const TableStep& step) const {
  return {.seen_step = static_cast<uint32_t>(step.number),
          .pushes = 1,
          .seen_seconds = layout_.keeps_seconds() ? step.seconds : 0,
          .show = layout_.counts_show_click() ? 1.0f : 0.0f};
}

// A key that comes twice in a block may have got its row since the block was looked up.
Result<uint32_t> SparseTable::find_or_create(Shard& shard, const Probe& probe) {
  const uint32_t slot = shard.find(probe.key, probe.hash);
  return slot != kNoSlot ? slot : shard.create(probe.key, probe.hash);
}

Result<uint32_t> SparseTable::admit(Shard& shard, const Probe& probe, const RowCounters& gradient) {
  if (!keeps_waiting()) return drawn(probe.key) ? find_or_create(shard, probe) : kNoSlot;
  if (const uint32_t slot = shard.find(probe.key, probe.hash); slot != kNoSlot) return slot;
  shard.keep_waiting(probe.key);
  const auto waiting = shard.waiting().try_emplace(probe.key).first;
  RowCounters sum = waiting->second;
  count_gradient(sum, gradient);
  const Admission& rule = spec_.admission;
  const bool admitted =
      rule.kind == Admission::Kind::count ? sum.pushes >= rule.count : spec_.show_click.score(sum.show, sum.click) >= rule.score;
  if (!admitted) {
    waiting->second = sum;
    return kNoSlot;
  }
  ASSIGN_OR_RETURN(const uint32_t slot, shard.create(probe.key, probe.hash));
  layout_.set_counters(shard.row(slot), waiting->second);  // this gradient is counted with the others of the block
  shard.waiting().erase(waiting);
  return slot;
}

Status SparseTable::pull(std::span<const uint64_t> keys, std::span<float> rows, bool create, std::vector<uint64_t>* missing) {
  RETURN_IF_ERROR(check_rows(keys, rows.size()));
  if (create) RETURN_IF_ERROR(check_room());
  const ColdAccess access{.leave = !create, .leave_while = &exports_};
  RETURN_IF_ERROR(for_blocks(keys, access, [&](const Block& block) { return pull_block(block, rows.data(), create, missing); }));
  if (missing != nullptr) std::ranges::sort(*missing);
  return {};
}

Status SparseTable::pull_block(const Block& block, float* rows, bool create, std::vector<uint64_t>* missing) {
  const size_t width = layout_.width();
  auto& [shard, probes, slots, cold] = block;
  const bool make = create && !keeps_waiting();
  for (size_t i = 0; i < probes.size(); ++i) {
    float* const target = rows + probes[i].position * width;
    const float* row = slots[i] != kNoSlot ? shard.row(slots[i]) : cold.row(i);
    if (row == nullptr && make && drawn(probes[i].key)) {
      ASSIGN_OR_RETURN(slots[i], find_or_create(shard, probes[i]));
      row = shard.row(slots[i]);
    }
    if (row != nullptr) {
      std::memcpy(target, layout_.value(row).data(), width * sizeof(float));
      continue;
    }
    row_initial_value(spec_.initializer, probes[i].key, {target, width});
    if (missing != nullptr) missing->push_back(probes[i].position);
  }
  return {};
}

TableStep SparseTable::begin_step(float learning_rate, uint32_t seconds) {
  MutexLock lock(step_mutex_);
  TableStep step{.rule = {}, .number = ++steps_, .seconds = seconds};
  if (rule_) step.rule = rule_->begin_step(learning_rate, scalars_);
  return step;
}

Status SparseTable::apply(const TableStep& step, std::span<const uint64_t> keys, std::span<const float> gradients,
                          const Impressions& impressions) {
  RETURN_IF_ERROR(check_rows(keys, gradients.size()));
  if (!rule_) return Status::failed_precondition("table '{}' is a geo table: it takes differences, not gradients", spec_.name);
  for (const std::span<const float>& counts : {impressions.shows, impressions.clicks}) {
    if (counts.empty()) continue;
    if (!layout_.counts_show_click()) {
      return Status::invalid_argument("table '{}' keeps no shows and clicks, but a push has them; enable show_click in its spec",
                                      spec_.name);
    }
    if (counts.size() != keys.size()) {
      return Status::invalid_argument("table '{}': {} shows or clicks for {} keys", spec_.name, counts.size(), keys.size());
    }
  }
  return for_blocks_in_use(keys, [&](const Block& block) { return apply_block(block, step, gradients.data(), impressions); });
}

Status SparseTable::apply_block(const Block& block, const TableStep& step, const float* gradients,
                                const Impressions& impressions) {
  Scratch& mine = scratch();
  const size_t width = layout_.width();
  auto& [shard, probes, slots, cold] = block;
  shard.keep({slots, probes.size()});
  mine.gradients.resize(block_rows_ * width);
  RowCounters gradient = counters_of(step);
  size_t rows = 0;
  for (size_t i = 0; i < probes.size(); ++i) {
    const uint32_t position = probes[i].position;
    if (!impressions.shows.empty()) gradient.show = impressions.shows[position];
    if (!impressions.clicks.empty()) gradient.click = impressions.clicks[position];
    if (slots[i] == kNoSlot) {
      ASSIGN_OR_RETURN(slots[i], admit(shard, probes[i], gradient));
      if (slots[i] == kNoSlot) continue;
    }
    float* const row = shard.row(slots[i]);
    RowLayout::touch(row);
    layout_.count(row, gradient);
    float* const gathered = mine.gradients.data() + rows * width;
    std::memcpy(gathered, gradients + position * width, width * sizeof(float));
    if (spec_.regularization) optim::regularize(*spec_.regularization, layout_.value(row), {gathered, width});
    mine.rows[rows++] = slots[i];
  }
  float* const values = arena_->row(0) + layout_.value_offset();
  std::array<float*, optim::kMaxElementStates> states{};
  for (size_t k = 0; k < layout_.element_states(); ++k) states[k] = values + (k + 1) * width;
  rule_->apply_rows(step.rule, {.param = values,
                                .element_states = states.data(),
                                .width = width,
                                .stride = layout_.words(),
                                .index = {mine.rows.data(), rows},
                                .grad = mine.gradients.data()});
  return {};
}

Status SparseTable::add(const TableStep& step, uint32_t worker, std::span<const uint64_t> keys, std::span<const float> deltas) {
  RETURN_IF_ERROR(check_rows(keys, deltas.size()));
  if (rule_) return Status::failed_precondition("table '{}' takes gradients, not differences: it is not a geo table", spec_.name);
  RETURN_IF_ERROR(for_blocks_in_use(keys, [&](const Block& block) { return add_block(block, step, deltas.data()); }));
  changes_.record(worker, keys);
  return {};
}

Status SparseTable::add_block(const Block& block, const TableStep& step, const float* deltas) {
  const size_t width = layout_.width();
  auto& [shard, probes, slots, cold] = block;
  shard.keep({slots, probes.size()});
  const RowCounters seen = counters_of(step);
  for (size_t i = 0; i < probes.size(); ++i) {
    if (slots[i] == kNoSlot) {
      ASSIGN_OR_RETURN(slots[i], find_or_create(shard, probes[i]));
    }
    float* const row = shard.row(slots[i]);
    RowLayout::touch(row);
    layout_.count(row, seen);
    float* const value = layout_.value(row).data();
    const float* const delta = deltas + probes[i].position * width;
    for (size_t k = 0; k < width; ++k) value[k] += delta[k];
  }
  return {};
}

Result<bool> SparseTable::take_changed(uint32_t worker, uint64_t number, uint64_t most, std::vector<uint64_t>& keys,
                                       std::vector<float>& rows) {
  ASSIGN_OR_RETURN(auto taken, changes_.take(worker, number, most));
  keys = std::move(taken.keys);
  rows.resize(keys.size() * layout_.width());
  RETURN_IF_ERROR(pull(keys, rows, false));
  return taken.more;
}

TableProgress SparseTable::progress() const {
  MutexLock lock(step_mutex_);
  return {.steps = steps_, .scalars = scalars_};
}

Status SparseTable::set_progress(const TableProgress& progress) {
  MutexLock lock(step_mutex_);
  if (progress.scalars.size() != scalars_.size()) {
    return Status::invalid_argument("table '{}': rule '{}' has {} scalar states, {} were given", spec_.name, spec_.rule,
                                    scalars_.size(), progress.scalars.size());
  }
  steps_ = progress.steps;
  scalars_ = progress.scalars;
  return {};
}

uint64_t SparseTable::steps() const {
  MutexLock lock(step_mutex_);
  return steps_;
}

}  // namespace argosy::table
