// A step's temporaries from the pool and from the allocator of torch, which is malloc: run with LD_PRELOAD it is jemalloc's or
// mimalloc's. Row `pool` of bench/rows.py.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "argosy/engine/program/tensor_pool.h"

namespace argosy::engine {
namespace {

// What a step of CTR-DNN with batches of 1,000 computes and forgets, in floats: looked-up rows, concatenations, three layers and
// their gradients.
const std::vector<int64_t> kStep = {260'000, 273'000, 400'000, 400'000, 400'000, 400'000, 400'000,
                                    400'000, 273'000, 260'000, 109'200, 160'000, 160'000};

template <typename Make>
void run_steps(benchmark::State& state, const Make& make) {
  for (auto _ : state) {
    std::vector<at::Tensor> step;
    for (const int64_t size : kStep) {
      step.push_back(make(size));
      std::memset(step.back().data_ptr(), 0, step.back().nbytes());  // the step writes what it computes
    }
  }
}

void BM_StepFromPool(benchmark::State& state) {
  run_steps(state, [](int64_t size) { return pooled_tensor({size}, at::kFloat); });
}
void BM_StepFromMalloc(benchmark::State& state) {
  run_steps(state, [](int64_t size) { return at::empty({size}, at::kFloat); });
}
BENCHMARK(BM_StepFromPool)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_StepFromMalloc)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace argosy::engine
