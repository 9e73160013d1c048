#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "argosy/base/random.h"
#include "argosy/data/criteo.h"
#include "argosy/data/multislot.h"
#include "argosy/data/record_store.h"

namespace argosy::data {
namespace {

constexpr int kLines = 4000;

std::string padded(std::string text) { return std::move(text) + std::string(kTextPadding, '\0'); }

// Criteo as the quick start's reader writes it: 13 floats, 26 slots of one hashed id, a label.
std::string criteo_like(bool long_floats) {
  Random random(1);
  std::string text;
  for (int line = 0; line < kLines; ++line) {
    text += "13";
    for (int i = 0; i < 13; ++i) {
      const double value = static_cast<double>(random.below(300)) / 603;
      text += long_floats ? fmt::format(" {}", value) : fmt::format(" {:.6f}", value);
    }
    for (int i = 0; i < 26; ++i) text += fmt::format(" 1 {}", random.below(1'000'001));
    text += fmt::format(" 1 {}\n", random.below(2));
  }
  return padded(std::move(text));
}

// Ragged slots of 64-bit keys, as feature extraction at scale writes them.
std::string keys() {
  Random random(2);
  std::string text;
  for (int line = 0; line < kLines; ++line) {
    for (int slot = 0; slot < 28; ++slot) {
      const uint64_t count = 1 + random.below(4);
      text += fmt::format("{}{}", slot > 0 ? " " : "", count);
      for (uint64_t i = 0; i < count; ++i) text += fmt::format(" {}", random());
    }
    text += '\n';
  }
  return padded(std::move(text));
}

std::string raw_criteo() {
  Random random(3);
  std::string text;
  for (int line = 0; line < kLines; ++line) {
    text += fmt::format("{}", random.below(2));
    for (int i = 0; i < 13; ++i) text += fmt::format("\t{}", random.below(1000));
    for (int i = 0; i < 26; ++i) text += fmt::format("\t{:08x}", random() >> 32);
    text += '\n';
  }
  return padded(std::move(text));
}

void parse_text(const LineParser& parser, const std::string& text, Batch& batch) {
  LineError error;
  batch.reset(parser.slots());
  for (const char *at = text.data(), *end = text.data() + text.size() - kTextPadding; at < end;) {
    at = parser.parse_line(at, batch, error);
    ARGOSY_CHECK(at != nullptr, error.what);
  }
}

void run(benchmark::State& state, const LineParser& parser, const std::string& text) {
  Batch batch;
  for (auto _ : state) {
    parse_text(parser, text, batch);
    benchmark::DoNotOptimize(batch.columns.front().count());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size() - kTextPadding));
  state.SetItemsProcessed(state.iterations() * kLines);
}

void BM_MultiSlotShortFloats(benchmark::State& state) { run(state, MultiSlotParser(criteo_slots()), criteo_like(false)); }
BENCHMARK(BM_MultiSlotShortFloats);

void BM_MultiSlotLongFloats(benchmark::State& state) { run(state, MultiSlotParser(criteo_slots()), criteo_like(true)); }
BENCHMARK(BM_MultiSlotLongFloats);

void BM_MultiSlotKeys(benchmark::State& state) {
  std::vector<SlotSpec> slots;
  for (int i = 0; i < 28; ++i)
    slots.push_back({.name = fmt::format("s{}", i), .type = SlotType::int64, .dense = false, .width = 1});
  run(state, MultiSlotParser(slots), keys());
}
BENCHMARK(BM_MultiSlotKeys);

void BM_CriteoText(benchmark::State& state) { run(state, **CriteoParser::make(criteo_slots(), {}), raw_criteo()); }
BENCHMARK(BM_CriteoText);

// Batches of 1,000 out of 400,000 samples (about 120 MB) in a shuffled order.
void BM_GatherShuffled(benchmark::State& state) {
  const std::vector<SlotSpec> slots = criteo_slots();
  Batch batch;
  parse_text(MultiSlotParser(slots), criteo_like(false), batch);
  RecordStore store(slots);
  for (int i = 0; i < 100; ++i) store.append(batch);
  store.shuffle(1);
  int64_t first = 0;
  for (auto _ : state) {
    batch.reset(slots);
    store.gather(first, 1000, batch);
    first = (first + 1000) % store.size();
    benchmark::DoNotOptimize(batch.columns.front().count());
  }
  state.SetItemsProcessed(state.iterations() * 1000);
  state.counters["bytes_per_sample"] = static_cast<double>(store.bytes()) / static_cast<double>(store.size());
}
BENCHMARK(BM_GatherShuffled);

}  // namespace
}  // namespace argosy::data
