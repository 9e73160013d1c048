#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>

#include "argosy/base/random.h"
#include "argosy/optim/rule.h"
#include "argosy/optim/simd.h"

namespace argosy::optim {
namespace {

struct Arrays {
  explicit Arrays(size_t n, size_t states) : param(n, 0.5f), state(states, std::vector<float>(n, 0.25f)) {
    for (auto& s : state) pointers.push_back(s.data());
  }
  std::vector<float> param;
  std::vector<std::vector<float>> state;
  std::vector<float*> pointers;
};

void report(benchmark::State& state, size_t elements, size_t states) {
  // read and written: the parameter and its states; read: the gradient
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * elements * sizeof(float) * (2 * (1 + states) + 1)));
}

void dense(benchmark::State& state, const std::string& name) {
  const auto rule = *make_rule(name);
  const auto n = static_cast<size_t>(state.range(0));
  Arrays arrays(n, rule->element_states());
  const std::vector<float> grad(n, 0.1f);
  auto scalars = rule->initial_scalars();
  for (auto _ : state) {
    const Step step = rule->begin_step(1e-3f, scalars);
    rule->apply(step, arrays.param.data(), grad.data(), arrays.pointers.data(), n);
    benchmark::ClobberMemory();
  }
  report(state, n, rule->element_states());
}

// What Adam reads and writes, with one addition an element instead of its arithmetic: the least that any rule with two states
// can take.
ARGOSY_SIMD_CLONES void touch(float* __restrict p, const float* __restrict g, float* __restrict m, float* __restrict v,
                              size_t n) {
  for (size_t i = 0; i < n; ++i) {
    m[i] += g[i];
    v[i] += g[i];
    p[i] += g[i];
  }
}

void memory_bound(benchmark::State& state) {
  const auto n = static_cast<size_t>(state.range(0));
  Arrays arrays(n, 2);
  const std::vector<float> grad(n, 0.1f);
  for (auto _ : state) {
    touch(arrays.param.data(), grad.data(), arrays.pointers[0], arrays.pointers[1], n);
    benchmark::ClobberMemory();
  }
  report(state, n, 2);
}

enum Layout { apart, together };

// The rows of a CTR batch: 20,000 of a million, other ones each time. The states lie in arrays of their own, as a Program has
// them, or behind their row, as a server's table has them.
void rows(benchmark::State& state, const std::string& name, Layout layout) {
  constexpr size_t kRows = 1'000'000, kBatch = 20'000, kBatches = 20;
  const auto rule = *make_rule(name);
  const size_t states = rule->element_states(), width = static_cast<size_t>(state.range(0));
  const size_t stride = layout == together ? width * (1 + states) : width;
  Arrays arrays(kRows * stride, layout == together ? 0 : states);
  for (size_t k = 0; layout == together && k < states; ++k) arrays.pointers.push_back(arrays.param.data() + (k + 1) * width);
  const std::vector<float> grad(kBatch * width, 0.1f);
  std::vector<int64_t> all(kRows);
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), Random(7));
  auto scalars = rule->initial_scalars();
  size_t batch = 0;
  for (auto _ : state) {
    const std::span<const int64_t> index(all.data() + batch++ % kBatches * kBatch, kBatch);
    const Step step = rule->begin_step(1e-3f, scalars);
    rule->apply_rows(step, {arrays.param.data(), arrays.pointers.data(), width, stride, index, grad.data()});
    benchmark::ClobberMemory();
  }
  report(state, kBatch * width, states);
}

BENCHMARK(memory_bound)->Arg(1 << 12)->Arg(1'000'000)->Arg(16'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(dense, adam, "adam")->Arg(1 << 12)->Arg(1'000'000)->Arg(16'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(dense, sgd, "sgd")->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(dense, momentum, "momentum")->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(dense, adagrad, "adagrad")->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(dense, rmsprop, "rmsprop")->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(dense, ftrl, "ftrl")->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(dense, lamb, "lamb")->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(rows, adam_apart, "adam", apart)->Arg(10)->Arg(16)->Arg(64)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(rows, adam_together, "adam", together)->Arg(10)->Arg(16)->Arg(64)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(rows, sgd, "sgd", apart)->Arg(10)->Arg(64)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace argosy::optim
