#include "argosy/fleet/collective_training.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include "argosy/base/error.h"
#include "argosy/base/file.h"
#include "argosy/testing/ranks.h"
#include "argosy/testing/temporary_folder.h"

namespace argosy::fleet {
namespace {

struct Net : torch::nn::Module {
  Net() : first(register_module("first", torch::nn::Linear(5, 8))), second(register_module("second", torch::nn::Linear(8, 2))) {
    calls = register_buffer("calls", at::zeros({1}));
  }
  std::pair<at::Tensor, at::Tensor> forward(const at::Tensor& input) {
    calls.add_(1);
    const at::Tensor hidden = at::tanh(first(input));
    return {second(hidden), hidden};
  }
  torch::nn::Linear first, second;
  at::Tensor calls;
};

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

void expect_ranks(int count, const std::function<void(const RankInfo&)>& body) {
  const auto ends = testing::run_ranks(count, [&](const RankInfo& place) {
    at::set_num_threads(1);
    body(place);
    leave();
  });
  for (int rank = 0; rank < count; ++rank) EXPECT_EQ(ends[rank].status, 0) << "rank " << rank << ": " << ends[rank].output;
}

at::Tensor batch(int step, int rank) {
  at::manual_seed(100 + 10 * step + rank);
  return at::randn({4, 5});
}

at::Tensor loss_of(const std::pair<at::Tensor, at::Tensor>& out) { return out.first.square().mean() + out.second.mean(); }

std::vector<at::Tensor> copies(const torch::nn::Module& module) {
  std::vector<at::Tensor> all;
  for (const auto& one : module.parameters()) all.push_back(one.detach().clone());
  return all;
}

void require_close(const torch::nn::Module& a, const std::vector<at::Tensor>& b, const std::string& what) {
  const auto parameters = a.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const double distance = ((parameters[i] - b[i]).norm() / b[i].norm()).item<double>();
    require(distance < 1e-5, fmt::format("{}: parameter {} is {} away", what, i, distance));
  }
}

// The parameters of one process that sees all ranks' batches, `merge` of them a step, clipped.
std::vector<at::Tensor> alone(int ranks, int steps, int merge, double clip) {
  at::manual_seed(1);
  Net net;
  torch::optim::SGD sgd(net.parameters(), 0.1);
  for (int step = 0; step < steps; ++step) {
    std::vector<at::Tensor> inputs;
    for (int micro = 0; micro < merge; ++micro) {
      for (int rank = 0; rank < ranks; ++rank) inputs.push_back(batch(step * merge + micro, rank));
    }
    sgd.zero_grad();
    loss_of(net.forward(at::cat(inputs))).backward();
    if (clip > 0) torch::nn::utils::clip_grad_norm_(net.parameters(), clip);
    sgd.step();
  }
  return copies(net);
}

void train(const RankInfo& place, int steps, const CollectiveStrategy& strategy, const std::vector<at::Tensor>& expected) {
  init({.is_collective = true}, place);
  at::manual_seed(1 + place.rank);
  auto net = std::make_shared<Net>();
  auto model = distributed_model(net);
  auto optimizer = distributed_optimizer(torch::optim::SGD(net->parameters(), 0.1), strategy);
  for (int step = 0; step < steps * strategy.gradient_merge; ++step) {
    loss_of(model.forward(batch(step, place.rank))).backward();
    optimizer.step();
    optimizer.clear_grad();
  }
  require_close(*net, expected, "the model");
}

TEST(Collective, EqualsOneProcessWithTheCombinedBatch) {
  expect_ranks(3, [](const RankInfo& place) { train(place, 4, {}, alone(3, 4, 1, 0)); });
}

TEST(Collective, MergesGradientsAndClipsTheirNorm) {
  expect_ranks(2, [](const RankInfo& place) { train(place, 3, {.gradient_merge = 4}, alone(2, 3, 4, 0)); });
  expect_ranks(2, [](const RankInfo& place) { train(place, 3, {.gradient_merge = 2, .clip_norm = 0.05}, alone(2, 3, 2, 0.05)); });
}

TEST(Collective, LocalSgdMeetsEveryKSteps) {
  expect_ranks(2, [](const RankInfo& place) {
    init({.is_collective = true}, place);
    auto net = std::make_shared<Net>();
    auto model = distributed_model(net);
    auto optimizer = distributed_optimizer(torch::optim::SGD(net->parameters(), 0.1), {.local_sgd = {{.k_steps = 3}}});
    for (int step = 0; step < 4; ++step) {
      loss_of(model.forward(batch(step, place.rank))).backward();
      optimizer.step();
      optimizer.clear_grad();
      const auto all = value_or_throw(world()->all_gather(net->first->weight));
      require(all[0].equal(all[1]) == (step == 0 || step == 3), fmt::format("equal after step {}", step));
    }
  });
}

TEST(Collective, WorksAloneWithoutALauncher) {
  expect_ranks(1, [](const RankInfo&) { train(RankInfo{}, 3, {}, alone(1, 3, 1, 0)); });
}

TEST(Collective, UtilSpeaksWithAllProcesses) {
  expect_ranks(3, [](const RankInfo& place) {
    init({.is_collective = true}, place);
    require(worker_index() == place.rank && worker_num() == 3 && is_worker() && is_first_worker() == (place.rank == 0), "who");
    require(util().all_reduce(std::vector<double>{1.5, double(place.rank)}) == std::vector<double>{4.5, 3}, "sum");
    require(util().all_reduce(std::vector<int64_t>{place.rank}, "max") == std::vector<int64_t>{2}, "max");
    require(util().all_gather(std::to_string(place.rank)) == std::vector<std::string>{"0", "1", "2"}, "gather");
    require(util().get_file_shard({"a", "b", "c", "d"}).size() == (place.rank == 0 ? 2u : 1u), "files");
    barrier_worker();
  });
}

TEST(Collective, CheckpointsGoOnExactlyWhereTheyWere) {
  const testing::TemporaryFolder folder;
  const std::string path = (folder.path() / "checkpoint").string();
  expect_ranks(2, [&](const RankInfo& place) {
    init({.is_collective = true}, place);
    const auto make = [&](int seed) {
      at::manual_seed(seed);
      auto net = std::make_shared<Net>();
      auto model = distributed_model(net);
      auto optimizer = distributed_optimizer(torch::optim::Adam(net->parameters(), 0.1));
      return std::tuple(net, model, std::move(optimizer), DistributedBatchSampler(40, {.batch_size = 5, .shuffle = true}));
    };
    auto [net, model, optimizer, sampler] = make(1);
    const auto step = [&](auto& model, auto& optimizer, auto& sampler) {
      loss_of(model.forward(batch(static_cast<int>(sampler.next()[0]), place.rank))).backward();
      optimizer.step();
      optimizer.clear_grad();
    };
    step(model, optimizer, sampler);
    save(*net, optimizer, path, &sampler);
    step(model, optimizer, sampler);
    auto [again, model_again, optimizer_again, sampler_again] = make(2);
    require(!load(*again, optimizer_again, "", &sampler_again), "nothing to resume");
    require(load(*again, optimizer_again, path, &sampler_again), "loaded");
    step(model_again, optimizer_again, sampler_again);
    require_close(*again, copies(*net), "after the next step");
    require(sampler_again.position() == 2, "the sampler's position");
  });
}

TEST(Collective, AMissingCheckpointIsTheSameErrorForAll) {
  const auto ends = testing::run_ranks(2, [](const RankInfo& place) {
    init({.is_collective = true}, place);
    Net net;
    auto optimizer = distributed_optimizer(torch::optim::SGD(net.parameters(), 0.1));
    load(net, optimizer, "no/such/file");
  });
  for (const auto& end : ends) {
    EXPECT_EQ(end.status, 1);
    EXPECT_THAT(end.output, ::testing::HasSubstr("no/such/file"));
  }
}

TEST(Collective, QuestionsBeforeInitSaySo) {
  EXPECT_THROW(world(), Error);
  EXPECT_THROW(init({.is_collective = false}), Error);
}

// A job is what is passed: one of two processes and one of this process alone, side by side, have their own group and models.
TEST(CollectiveJob, TwoInOneProcessKnowNothingOfEachOther) {
  expect_ranks(2, [](const RankInfo& place) {
    CollectiveJob both, alone;
    both.announce(place, Settings());
    alone.announce(RankInfo{}, Settings());
    const auto sum_in = [](CollectiveJob& job, double value) {
      std::vector<double> values = {value};
      peers_of(job)->all_reduce(values, "sum");
      return values[0];
    };
    const int own = place.rank + 1;
    require(sum_in(both, own) == 3, "the job of two adds up both");
    require(sum_in(alone, own) == own, "the job of one has its own number only");

    const auto gradient_in = [own](CollectiveJob& job) {
      auto model = distributed_model(torch::nn::Linear(1, 1), {}, job);
      model(at::full({1, 1}, static_cast<float>(own))).sum().backward();
      require(job.models().size() == 1, "a job has its own models only");
      return model->weight.grad().item<float>();
    };
    require(gradient_in(both) == 1.5f, "the mean over the job of two");
    require(gradient_in(alone) == static_cast<float>(own), "its own gradient");

    require(alone.leave(), "it had met");
    require(sum_in(both, 1) == 2, "the other job goes on");
    require(!met(), "the job of the process is neither of them");
    both.leave();
  });
}

}  // namespace
}  // namespace argosy::fleet
