#include <benchmark/benchmark.h>

#include <algorithm>

#include "argosy/base/random.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

constexpr size_t kRows = 1'000'000;
constexpr size_t kBatch = 26'000;  // unique keys of a CTR batch

std::unique_ptr<SparseTable> filled(const char* rule, uint32_t width) {
  auto table = std::move(SparseTable::make({.name = "bench", .width = width, .rule = rule})).value();
  std::vector<uint64_t> keys(kRows);
  for (size_t i = 0; i < kRows; ++i) keys[i] = i;
  std::vector<float> rows(kRows * width);
  if (!table->pull(keys, rows, true).ok()) std::abort();
  return table;
}

// Batches of unique keys, enough of them that no batch finds its rows in the processor's cache.
std::vector<std::vector<uint64_t>> batches() {
  Random random(1);
  std::vector<std::vector<uint64_t>> all(32);
  for (auto& keys : all) {
    keys.reserve(kBatch + kBatch / 8);
    while (keys.size() < kBatch) {
      while (keys.size() < kBatch + kBatch / 8) keys.push_back(random.below(kRows));
      std::sort(keys.begin(), keys.end());
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    }
    std::shuffle(keys.begin(), keys.end(), random);
    keys.resize(kBatch);
  }
  return all;
}

template <typename Work>
void over_batches(benchmark::State& state, const char* rule, const Work& work) {
  const auto width = static_cast<uint32_t>(state.range(0));
  const auto table = filled(rule, width);
  const auto keys = batches();
  std::vector<float> numbers(kBatch * width, 0.1f);
  size_t next = 0;
  for (auto _ : state) {
    if (!work(*table, keys[next++ % keys.size()], numbers).ok()) std::abort();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
}

void push(benchmark::State& state, const char* rule) {
  over_batches(state, rule, [](SparseTable& table, const std::vector<uint64_t>& keys, std::vector<float>& gradients) {
    return table.apply(table.begin_step(0.01f), keys, gradients);
  });
}

void pull(benchmark::State& state) {
  over_batches(state, "adagrad", [](SparseTable& table, const std::vector<uint64_t>& keys, std::vector<float>& rows) {
    return table.pull(keys, rows, true);
  });
}

// Rows made from nothing.
void create(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(filled("adam", static_cast<uint32_t>(state.range(0))));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows));
}

void export_rows(benchmark::State& state) {
  const auto table = filled("adam", static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    std::string bytes;
    for (auto all = table->begin_export(); all.next(size_t{1} << 20, bytes).value();) bytes.clear();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows));
}

BENCHMARK_CAPTURE(push, sgd, "sgd")->Arg(10)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(push, adagrad, "adagrad")->Arg(10)->Arg(16)->Arg(64)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(push, adam, "adam")->Arg(10)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK(pull)->Arg(10)->Unit(benchmark::kMillisecond);
BENCHMARK(create)->Arg(10)->Unit(benchmark::kMillisecond);
BENCHMARK(export_rows)->Arg(10)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace argosy::table
