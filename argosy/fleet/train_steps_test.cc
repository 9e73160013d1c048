#include "argosy/fleet/train_steps.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include "argosy/base/error.h"
#include "argosy/fleet/step_loop.h"
#include "argosy/testing/ranks.h"

// What does not need a launcher; tests/system/test_survive.py has the loss of ranks.
namespace argosy::fleet {
namespace {

void check(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

void each_rank(const std::function<void(const RankInfo&)>& body) {
  const auto ends = testing::run_ranks(2, [&](const RankInfo& place) {
    at::set_num_threads(1);
    init({.is_collective = true}, place);
    body(place);
    leave();
  });
  for (const auto& end : ends) EXPECT_EQ(end.status, 0) << end.output;
}

struct Line : torch::nn::Module {
  Line() : line(register_module("line", torch::nn::Linear(1, 1))) {}
  at::Tensor forward(const at::Tensor& x) { return line(x); }
  torch::nn::Linear line;
};

at::Tensor rows_of(const std::vector<int64_t>& batch) {
  at::Tensor rows = at::empty({static_cast<int64_t>(batch.size()), 1});
  for (size_t i = 0; i < batch.size(); ++i) rows[static_cast<int64_t>(i)] = static_cast<float>(batch[i]) / 16;
  return rows;
}

// Every sample once per pass, over both ranks; what comes after a pass, once; and another program's part of the passes goes on
// where the sampler is.
TEST(TrainSteps, CountEveryBatchOfEveryPass) {
  each_rank([](const RankInfo& place) {
    auto net = std::make_shared<Line>();
    auto model = distributed_model(net);
    auto optimizer = distributed_optimizer(torch::optim::SGD(net->parameters(), 0.1));
    argosy::DistributedBatchSampler sampler(16, {.batch_size = 2, .shuffle = true});
    sampler.set_epoch(1);
    sampler.next();  // of a checkpoint in the middle of a pass
    std::vector<int64_t> seen;
    std::string order;
    const auto step = [&](const std::vector<int64_t>& batch) {
      seen.insert(seen.end(), batch.begin(), batch.end());
      const at::Tensor loss = (model(rows_of(batch)) - 1).square().mean();
      loss.backward();
      return loss.item<double>();
    };
    const at::Tensor before = net->line->weight.detach().clone();
    train_steps(model, optimizer, sampler, step,
                {.passes = 3,
                 .counted = [&](const CountedStep& done) { order += fmt::format("{}.{} ", done.pass, done.index); },
                 .after_pass = [&](int64_t pass) { order += fmt::format("after {} ", pass); }});
    check(order == "1.1 1.2 1.3 after 1 2.0 2.1 2.2 2.3 after 2 ", order);
    check(seen.size() == 14, "batches of rank " + std::to_string(place.rank));
    check(!net->line->weight.equal(before) && !net->line->weight.grad().defined(), "moved, and no gradient is left");
  });
}

TEST(TrainSteps, RandomNumbersDependOnThePlaceAlone) {
  each_rank([](const RankInfo&) {
    auto net = std::make_shared<Line>();
    auto model = distributed_model(net);
    auto optimizer = distributed_optimizer(torch::optim::SGD(net->parameters(), 0.1));
    const auto drawn = [&](int64_t skipped, uint64_t seed) {
      argosy::DistributedBatchSampler sampler(16, {.batch_size = 2});
      while (sampler.position() < skipped) sampler.next();
      std::vector<double> numbers;
      const auto step = [&](const std::vector<int64_t>& batch) {
        numbers.push_back(at::rand({1}).item<double>());
        model(rows_of(batch)).mean().backward();
        return 0.0;
      };
      train_steps(model, optimizer, sampler, step, {.seed = seed});
      return numbers;
    };
    const auto all = drawn(0, 3), rest = drawn(2, 3);
    check(std::vector<double>(all.begin() + 2, all.end()) == rest, "those of the last two batches");
    check(all[0] != all[1] && drawn(0, 4) != all, "of other places and seeds");
  });
}

TEST(TrainSteps, WhatAStepMustNotDoIsRefused) {
  each_rank([](const RankInfo&) {
    auto net = std::make_shared<Line>();
    auto model = distributed_model(net);
    auto optimizer = distributed_optimizer(torch::optim::SGD(net->parameters(), 0.1));
    argosy::DistributedBatchSampler sampler(16, {.batch_size = 2});
    const auto message = [&](auto& used, const Step& step) -> std::string {
      try {
        train_steps(model, used, sampler, step);
      } catch (const Error& error) {
        return error.what();
      }
      return "";
    };
    const Step moves = [&](const std::vector<int64_t>& batch) {
      model(rows_of(batch)).mean().backward();
      optimizer.step();
      return 0.0;
    };
    check(message(optimizer, moves).find("the optimizer's step() within a step of train_steps()") != std::string::npos, "step()");
    optimizer.step();  // and afterwards it may be called again
    auto merging = distributed_optimizer(torch::optim::SGD(net->parameters(), 0.1), {.gradient_merge = 2});
    const Step none = [](const std::vector<int64_t>&) { return 0.0; };
    check(message(merging, none).find("found gradient_merge") != std::string::npos, "gradient_merge");
  });
}

// An error of a body is its caller's, whatever its type, and so is one that is not to be taken for a lost rank's.
TEST(StepLoop, ErrorsOfABodyAreTheCallers) {
  StepLoop loop(value_or_throw(collective::Group::join(RankInfo{}, Settings())), {});
  loop.begin();
  int commits = 0;
  const auto commit = [&] { ++commits; };
  EXPECT_THROW(loop.step({.body = [] { throw std::out_of_range("x"); }, .commit = commit}), std::out_of_range);
  const auto fatal = std::make_exception_ptr(std::length_error("x"));
  EXPECT_THROW(loop.step({.body = [&] { throw StepLoop::Fatal{fatal}; }, .commit = commit}), std::length_error);
  EXPECT_EQ(loop.counted(), 0);
  loop.step({.body = [] {}, .commit = commit});
  loop.finish();
  EXPECT_EQ(commits, 1);
  EXPECT_EQ(loop.counted(), 1);
}

}  // namespace
}  // namespace argosy::fleet
