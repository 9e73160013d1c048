// One rank of a data-parallel training: prints {"ms": …}, the mean time of a step in the last of several runs. Started by
// fleetrun --no-python, or alone. The same loop as bench/ddp_peer.py.
//
//   collective_bench MODEL BATCH SIDE STEPS [plain] [graph] [bfloat16] [channels_last] [adam] [alone]
//
// plain: the bare loop, without Argosy. graph: the whole step as a CUDA graph, with the fused Adam. alone: gradients are sent
// also where there is one process, so that a measurement on one GPU has NCCL in it.
#include <torch/cuda.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include <chrono>
#include <cstdio>
#include <set>

#include "argosy/base/error.h"
#include "argosy/collective/captured_step.h"
#include "argosy/collective/fused_adam.h"
#include "argosy/fleet/collective.h"
#include "bench/image_models.h"

namespace argosy::bench {
namespace {

constexpr int kRuns = 3;

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

void measure(const std::function<void()>& step, const Options& options, bool on_gpu) {
  timed(step, std::max(options.steps / 4, collective::CapturedStep::kWarmUp + 2), on_gpu);
  double seconds = 0;
  for (int run = 0; run < kRuns; ++run) {
    if (!options.has("plain")) fleet::barrier_worker();
    seconds = timed(step, options.steps, on_gpu);
  }
  if (options.has("plain") || fleet::is_first_worker()) std::printf("{\"ms\": %.4f}\n", 1000 * seconds / options.steps);
}

template <typename M, typename O>
void train(M& model, O& optimizer, const Batch& batch, const Options& options) {
  const auto step = [&] {
    const at::Tensor loss = at::cross_entropy_loss(model->forward(batch.input).to(at::kFloat), batch.target);
    loss.backward();
    optimizer.step();
    return loss;
  };
  if (!options.has("graph")) {
    return measure([&] { step(), optimizer.zero_grad(); }, options, batch.input.is_cuda());
  }
  collective::CapturedStep captured([&] {
    const at::Tensor loss = step();
    optimizer.zero_grad();
    return loss;
  });
  measure([&] { value_or_throw(captured.run()); }, options, true);
}

template <typename M>
void with_optimizer(M& model, std::vector<at::Tensor> parameters, const Batch& batch, const Options& options) {
  const auto run = [&](auto optimizer) {
    if (options.has("plain")) return train(model, optimizer, batch, options);
    auto distributed = fleet::distributed_optimizer(std::move(optimizer));
    train(model, distributed, batch, options);
  };
  if (options.has("adam")) return run(collective::FusedAdam(parameters, torch::optim::AdamOptions(1e-3)));
  run(torch::optim::SGD(parameters, 0.01));
}

// A pointer to what has forward(), as a module's own is.
struct Distributed {
  fleet::DistributedModel<Model> model;
  Distributed* operator->() { return this; }
  at::Tensor forward(const at::Tensor& input) { return model.forward(input); }
};

void run(const Options& options) {
  at::set_num_threads(1);
  if (!options.has("plain")) fleet::init({.is_collective = true});
  const c10::Device device = options.has("plain")
                                 ? (torch::cuda::is_available() ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU))
                                 : fleet::device();
  const auto type = options.has("bfloat16") ? at::kBFloat16 : at::kFloat;
  at::manual_seed(1);
  auto module = make_model(options.model);
  module->to(device, type);
  if (options.has("channels_last")) {
    for (auto& parameter : module->parameters()) {
      if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
  const Batch batch = make_batch(options, device, type);
  if (options.has("plain")) return with_optimizer(module, module->parameters(), batch, options);
  Distributed distributed{fleet::distributed_model(module, {.reduce_alone = options.has("alone")})};
  with_optimizer(distributed, module->parameters(), batch, options);
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
