// What the executor adds to an operator: a program of 100 trivial operators against the same libtorch calls by hand.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <cstdio>

#include "argosy/argosy.h"
#include "argosy/base/clock.h"

namespace argosy::bench {
namespace {

constexpr int kOps = 100, kRuns = 2000;

double by_hand(const at::Tensor& x) {
  at::NoGradGuard no_grad;
  const Stopwatch watch;
  for (int run = 0; run < kRuns; ++run) {
    at::Tensor y = x;
    for (int i = 0; i < kOps; ++i) y = at::relu(y);
  }
  return watch.seconds() / kRuns / kOps;
}

double by_executor(Executor& executor, const std::shared_ptr<Program>& program, const Variable& out, const Feed& feed) {
  const Stopwatch watch;
  for (int run = 0; run < kRuns; ++run) executor.run(program, feed, {out});
  return watch.seconds() / kRuns / kOps;
}

}  // namespace
}  // namespace argosy::bench

int main() {
  using namespace argosy;
  at::set_num_threads(1);
  const auto main_program = Program::create(), startup = Program::create();
  const ProgramGuard programs(main_program, startup);
  Variable y = layers::data("x", {4});
  for (int i = 0; i < bench::kOps; ++i) y = layers::relu(y);
  Executor executor;
  const Feed feed = {{"x", {.tensor = at::ones({1, 4})}}};
  for (int round = 0; round < 5; ++round) {
    const double hand = bench::by_hand(at::ones({1, 4})), ours = bench::by_executor(executor, main_program, y, feed);
    std::printf("{\"round\": %d, \"by_hand_ns\": %.0f, \"by_executor_ns\": %.0f, \"added_ns\": %.0f}\n", round, hand * 1e9,
                ours * 1e9, (ours - hand) * 1e9);
  }
}
