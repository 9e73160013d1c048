// One rank of a data-parallel training: prints {"ms": …}, the mean time of a step in the last of several runs. Started by
// fleetrun --no-python, or alone. The same loop as bench/peers/torch_ddp.py.
//
//   collective_bench MODEL BATCH SIDE STEPS [graph] [bfloat16] [channels_last] [adam] [alone] [compare]
//
// compare: prints {"ms": …, "plain_ms": …}, the latter of the bare loop, without Argosy, in turns with the other. graph: the
// whole step as a CUDA graph, with the fused Adam. alone: gradients are sent also where there is one process, so that a
// measurement on one GPU has NCCL in it.
#include <torch/cuda.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "argosy/base/error.h"
#include "argosy/collective/captured_step.h"
#include "argosy/collective/fused_adam.h"
#include "argosy/fleet/collective_training.h"
#include "bench/image_models.h"

namespace argosy::bench {
namespace {

constexpr int kRuns = 3, kTurnSteps = 3;

struct Options {
  std::string model;
  int64_t batch = 32, side = 32;
  int steps = 10;
  std::set<std::string> flags;
  bool has(const char* flag) const { return flags.contains(flag); }
};

struct Batch {
  at::Tensor input, target;
};

Batch make_batch(const Options& options, c10::Device device, at::ScalarType type) {
  const auto on = at::TensorOptions(device);
  if (options.model == "mlp")
    return {at::randn({options.batch, 32}, on), at::randint(0, 32, {options.batch}, on.dtype(at::kLong))};
  at::Tensor input = at::randn({options.batch, 3, options.side, options.side}, on).to(type);
  if (options.has("channels_last")) input = input.contiguous(at::MemoryFormat::ChannelsLast);
  return {input, at::randint(0, 10, {options.batch}, on.dtype(at::kLong))};
}

// Seconds of `steps` calls.
double timed(const std::function<void()>& step, int steps, bool on_gpu) {
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) step();
  if (on_gpu) torch::cuda::synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

void print_milliseconds(double seconds, const Options& options) {
  std::printf("{\"ms\": %.4f}\n", 1000 * seconds / options.steps);
  std::fflush(stdout);
}

void measure(const std::function<void()>& step, const Options& options, bool on_gpu) {
  timed(step, std::max(options.steps / 4, collective::CapturedStep::kWarmUp + 2), on_gpu);
  double seconds = 0;
  for (int run = 0; run < kRuns; ++run) {
    fleet::barrier_worker();
    seconds = timed(step, options.steps, on_gpu);
  }
  if (fleet::is_first_worker()) print_milliseconds(seconds, options);
  for (int sent = 0; std::getenv("BENCH_TURNS") && (sent = std::getchar()) != EOF;) {  // bench/gpu.py's rounds, with one process
    if (sent == '\n') print_milliseconds(timed(step, options.steps, on_gpu), options);
  }
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Two loops in turns: a percent of difference cannot be seen between two processes.
void measure_in_turns(const std::function<void()>& step, const std::function<void()>& plain, const Options& options,
                      bool on_gpu) {
  std::vector<double> ours, others;
  for (int turn = -2; turn < options.steps; ++turn) {
    const double own = timed(step, kTurnSteps, on_gpu), other = timed(plain, kTurnSteps, on_gpu);
    if (turn < 0) continue;
    ours.push_back(own);
    others.push_back(other);
  }
  std::printf("{\"ms\": %.4f, \"plain_ms\": %.4f}\n", 1000 * median(ours) / kTurnSteps, 1000 * median(others) / kTurnSteps);
}

template <typename M, typename O>
at::Tensor train(M& model, O& optimizer, const Batch& batch) {
  const at::Tensor loss = at::cross_entropy_loss(model.forward(batch.input).to(at::kFloat), batch.target);
  loss.backward();
  optimizer.step();
  optimizer.zero_grad();
  return loss;
}

std::shared_ptr<Model> model_for(const Options& options, c10::Device device) {
  at::manual_seed(1);
  auto module = make_model(options.model);
  module->to(device, options.has("bfloat16") ? at::kBFloat16 : at::kFloat);
  if (options.has("channels_last")) {
    for (auto& parameter : module->parameters()) {
      if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
  return module;
}

template <typename Make>
void run_with(const Options& options, Make make_optimizer) {
  const c10::Device device = fleet::device();
  const auto module = model_for(options, device), other = model_for(options, device);
  const Batch batch = make_batch(options, device, options.has("bfloat16") ? at::kBFloat16 : at::kFloat);
  auto model = fleet::distributed_model(module, {.reduce_alone = options.has("alone")});
  auto optimizer = fleet::distributed_optimizer(make_optimizer(module->parameters()));
  const auto step = [&] { return train(model, optimizer, batch); };
  if (options.has("compare")) {
    auto plain = make_optimizer(other->parameters());
    return measure_in_turns(step, [&] { train(*other, plain, batch); }, options, device.is_cuda());
  }
  if (!options.has("graph")) return measure(step, options, device.is_cuda());
  collective::CapturedStep captured(step);
  measure([&] { value_or_throw(captured.run()); }, options, true);
}

void run(const Options& options) {
  at::set_num_threads(1);
  fleet::init({.is_collective = true});
  if (options.has("adam")) {
    run_with(options, [](auto parameters) { return collective::FusedAdam(parameters, torch::optim::AdamOptions(1e-3)); });
  } else {
    run_with(options, [](auto parameters) { return torch::optim::SGD(parameters, 0.01); });
  }
  fleet::leave();
}

}  // namespace
}  // namespace argosy::bench

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: %s cifar|resnet18|resnet50|mlp BATCH SIDE STEPS [flags…]\n", argv[0]);
    return 2;
  }
  argosy::bench::Options options{argv[1], std::atoll(argv[2]), std::atoll(argv[3]), std::atoi(argv[4]), {argv + 5, argv + argc}};
  if (argosy::bench::make_model(options.model) == nullptr) {
    std::fprintf(stderr, "%s: there is no model '%s'\n", argv[0], argv[1]);
    return 2;
  }
  try {
    argosy::bench::run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
