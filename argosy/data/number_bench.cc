// Reading numbers of text: ours beside std::from_chars, which in libstdc++ is fast_float for floats. Rows `float` and `int` of
// bench/rows.py.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <charconv>
#include <string>

#include "argosy/base/random.h"
#include "argosy/data/line_parser.h"
#include "argosy/data/number.h"

namespace argosy::data {
namespace {

constexpr int kNumbers = 100'000;

std::string floats() {
  Random random(1);
  std::string text;
  for (int i = 0; i < kNumbers; ++i) text += fmt::format("{:.6f} ", static_cast<double>(random.below(300)) / 603);
  return text + std::string(kTextPadding, '\0');
}

std::string ids() {
  Random random(2);
  std::string text;
  for (int i = 0; i < kNumbers; ++i) text += fmt::format("{} ", random.below(1'000'001));
  return text + std::string(kTextPadding, '\0');
}

template <typename Number, typename Read>
void read_all(benchmark::State& state, const std::string& text, const Read& read) {
  for (auto _ : state) {
    const char* at = text.data();
    const char* const end = text.data() + text.size() - kTextPadding;
    Number sum = 0;
    while (at < end) {
      Number value;
      at = read(at, end, value) + 1;
      sum += value;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * kNumbers);
}

void BM_ReadFloat(benchmark::State& state) {
  read_all<float>(state, floats(), [](const char* at, const char*, float& value) { return read_float(at, value); });
}
void BM_FromCharsFloat(benchmark::State& state) {
  read_all<float>(state, floats(),
                  [](const char* at, const char* end, float& value) { return std::from_chars(at, end, value).ptr; });
}
void BM_ReadInt64(benchmark::State& state) {
  read_all<int64_t>(state, ids(), [](const char* at, const char*, int64_t& value) { return read_int64(at, value); });
}
void BM_FromCharsInt64(benchmark::State& state) {
  read_all<int64_t>(state, ids(),
                    [](const char* at, const char* end, int64_t& value) { return std::from_chars(at, end, value).ptr; });
}
BENCHMARK(BM_ReadFloat)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_FromCharsFloat)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ReadInt64)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_FromCharsInt64)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace argosy::data
