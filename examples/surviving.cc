// A model that trains on in all processes but the one that dies: fleetrun starts that one again, and it copies the model from
// another. The result has the bits of an undisturbed run.
//
//   fleetrun --no-python --nproc_per_node=4 --max_restart=3 --on_rank_loss=survive surviving [PASSES [MILLISECONDS]]
//
// Kill one of the four meanwhile. A step takes as many milliseconds at least.
#include <argosy/collective.h>
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace fleet = argosy::fleet;

namespace {

struct Net : torch::nn::Module {
  Net() {
    hidden = register_module("hidden", torch::nn::Linear(8, 64));
    norm = register_module("norm", torch::nn::BatchNorm1d(64));
    drop = register_module("drop", torch::nn::Dropout(0.2));
    out = register_module("out", torch::nn::Linear(64, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) { return out(drop(torch::relu(norm(hidden(x))))); }

  torch::nn::Linear hidden{nullptr}, out{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
  torch::nn::Dropout drop{nullptr};
};

// Of all parameters, so that two runs can be compared.
double sum_of(const Net& net) {
  double sum = 0;
  for (const auto& one : net.parameters()) sum += one.to(torch::kDouble).abs().sum().item<double>();
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t passes = argc > 1 ? std::atoll(argv[1]) : 10;
  const std::chrono::milliseconds pause(argc > 2 ? std::atoll(argv[2]) : 0);
  torch::manual_seed(1);
  const torch::Tensor x = torch::rand({640, 8}), y = x.sum(1, /*keepdim=*/true);

  fleet::init({.is_collective = true});
  auto net = std::make_shared<Net>();
  auto model = fleet::distributed_model(net);
  auto optimizer = fleet::distributed_optimizer(torch::optim::Adam(net->parameters(), torch::optim::AdamOptions(0.01)));
  argosy::DistributedBatchSampler sampler(640, {.batch_size = 16, .shuffle = true});
  fleet::load(*net, optimizer, "", &sampler);

  double loss = 0;
  const auto step = [&](const std::vector<int64_t>& batch) {
    std::this_thread::sleep_for(pause);
    const torch::Tensor rows = torch::tensor(batch);
    const torch::Tensor error = torch::mse_loss(model(x.index_select(0, rows)), y.index_select(0, rows));
    error.backward();
    return error.item<double>();
  };
  fleet::train_steps(model, optimizer, sampler, step,
                     {.passes = passes,
                      .counted = [&](const fleet::CountedStep& done) { loss = done.loss; },
                      .after_pass =
                          [&](int64_t pass) {
                            std::printf("rank %d pass %ld loss %.6f\n", fleet::world()->rank(), static_cast<long>(pass), loss);
                            std::fflush(stdout);
                            fleet::save(*net, optimizer, "checkpoint", &sampler);
                          }});
  std::printf("rank %d learned %.17g\n", fleet::world()->rank(), sum_of(*net));
}
