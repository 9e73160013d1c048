// The two hash indexes of our own beside abseil's flat_hash_map: why they are here. Rows `index` and `step-index` of
// bench/rows.py.
#include <absl/container/flat_hash_map.h>
#include <benchmark/benchmark.h>

#include <vector>

#include "argosy/base/key_index.h"
#include "argosy/base/random.h"
#include "argosy/table/slot_index.h"

namespace argosy::table {
namespace {

constexpr size_t kRows = 1'000'000, kRowBytes = 112;  // width 10 with Adagrad
constexpr size_t kBatch = 26'000;                     // of CTR-DNN: 1,000 samples of 26 slots
constexpr size_t kAhead = 16;                         // keys between a prefetch and its use

// As a shard has them: the key stands in the row.
struct Rows {
  struct Row {
    uint64_t key;
    char rest[kRowBytes - sizeof(uint64_t)];
  };
  std::vector<Row> rows{kRows};

  Rows() {
    for (size_t i = 0; i < kRows; ++i) rows[i].key = mix64(i);
  }
  uint64_t key(uint32_t slot) const { return rows[slot].key; }
  uint32_t hash(uint32_t slot) const { return hash_of(key(slot)); }
  void prefetch(uint32_t slot) const { __builtin_prefetch(&rows[slot]); }
  static uint32_t hash_of(uint64_t key) { return static_cast<uint32_t>(mix64(key) >> 16); }
};

std::vector<uint64_t> batch_of_keys(const Rows& rows, Random& random) {
  std::vector<uint64_t> keys(kBatch);
  for (uint64_t& key : keys) key = rows.rows[random.below(kRows)].key;
  return keys;
}

// Finds a batch's rows and reads a word of each.
void BM_SlotIndex(benchmark::State& state) {
  const Rows rows;
  SlotIndex index;
  for (uint32_t slot = 0; slot < kRows; ++slot) index.insert(rows.hash(slot), slot, rows);
  Random random(1);
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<uint64_t> keys = batch_of_keys(rows, random);
    state.ResumeTiming();
    uint64_t sum = 0;
    for (size_t i = 0; i < kBatch + 2 * kAhead; ++i) {
      if (i < kBatch) index.prefetch(Rows::hash_of(keys[i]));
      if (const size_t at = i - kAhead; at < kBatch) {
        if (const uint32_t slot = index.guess(Rows::hash_of(keys[at])); slot != kNoSlot) rows.prefetch(slot);
      }
      if (const size_t at = i - 2 * kAhead; at < kBatch) {
        sum += static_cast<uint64_t>(rows.rows[index.find(Rows::hash_of(keys[at]), keys[at], rows)].rest[0]);
      }
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
  state.counters["bytes_per_key"] = static_cast<double>(index.bytes()) / static_cast<double>(kRows);
}
BENCHMARK(BM_SlotIndex)->Unit(benchmark::kMicrosecond);

void BM_FlatHashMap(benchmark::State& state) {
  const Rows rows;
  absl::flat_hash_map<uint64_t, uint32_t> index;
  for (uint32_t slot = 0; slot < kRows; ++slot) index.emplace(rows.key(slot), slot);
  Random random(1);
  std::vector<uint32_t> slots(kBatch);
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<uint64_t> keys = batch_of_keys(rows, random);
    state.ResumeTiming();
    uint64_t sum = 0;
    for (size_t i = 0; i < kBatch + 2 * kAhead; ++i) {
      if (i < kBatch) index.prefetch(keys[i]);
      if (const size_t at = i - kAhead; at < kBatch) {
        slots[at] = index.find(keys[at])->second;
        rows.prefetch(slots[at]);
      }
      if (const size_t at = i - 2 * kAhead; at < kBatch) sum += static_cast<uint64_t>(rows.rows[slots[at]].rest[0]);
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
  state.counters["bytes_per_key"] =
      static_cast<double>(index.capacity() * (sizeof(uint64_t) * 2 + 1)) / static_cast<double>(kRows);
}
BENCHMARK(BM_FlatHashMap)->Unit(benchmark::kMicrosecond);

// Numbers the distinct keys of a step, a step after another.
void BM_KeyIndex(benchmark::State& state) {
  const Rows rows;
  Random random(1);
  const std::vector<uint64_t> keys = batch_of_keys(rows, random);
  KeyIndex index;
  for (auto _ : state) {
    index.reset(keys.size());
    uint64_t sum = 0;
    for (const uint64_t key : keys) sum += index.add(key);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
}
BENCHMARK(BM_KeyIndex)->Unit(benchmark::kMicrosecond);

void BM_FlatHashMapOfAStep(benchmark::State& state) {
  const Rows rows;
  Random random(1);
  const std::vector<uint64_t> keys = batch_of_keys(rows, random);
  absl::flat_hash_map<uint64_t, uint32_t> index;
  std::vector<uint64_t> distinct;
  for (auto _ : state) {
    index.clear();
    index.reserve(keys.size());
    distinct.clear();
    uint64_t sum = 0;
    for (const uint64_t key : keys) {
      const auto [at, is_new] = index.try_emplace(key, static_cast<uint32_t>(distinct.size()));
      if (is_new) distinct.push_back(key);
      sum += at->second;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
}
BENCHMARK(BM_FlatHashMapOfAStep)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace argosy::table
