// What stands beside the reducer: samplers, LocalSGD, batch normalisation over all ranks, the fused Adam.
#include <torch/csrc/autograd/autograd.h>
#include <torch/serialize.h>

#include <set>

#include "argosy/collective/captured_step.h"
#include "argosy/collective/fused_adam.h"
#include "argosy/collective/group_batch_norm.h"
#include "argosy/collective/local_sgd.h"
#include "argosy/collective/ranks_test.h"
#include "argosy/collective/sampler.h"

namespace argosy::collective {
namespace {

std::vector<int64_t> whole_pass(BatchSampler& sampler) {
  std::vector<int64_t> all;
  for (auto batch = sampler.next(); !batch.empty(); batch = sampler.next()) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

TEST(BatchSampler, RanksShareEverySampleAndHaveAsManyBatches) {
  for (const bool shuffle : {false, true}) {
    std::multiset<int64_t> seen;
    for (int rank = 0; rank < 3; ++rank) {
      BatchSampler sampler(10, rank, 3, {.batch_size = 3, .shuffle = shuffle, .seed = 5});
      EXPECT_EQ(sampler.size(), 2);
      const auto mine = whole_pass(sampler);
      EXPECT_EQ(mine.size(), 4u);
      seen.insert(mine.begin(), mine.end());
    }
    EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 10u);
    EXPECT_EQ(seen.size(), 12u);  // two of them twice, to fill up
  }
}

TEST(BatchSampler, PassesDifferByTheirNumberOnly) {
  BatchSampler one(100, 0, 2, {.batch_size = 10, .shuffle = true}), other(100, 0, 2, {.batch_size = 10, .shuffle = true});
  const auto first = whole_pass(one);
  one.set_epoch(1);
  EXPECT_NE(whole_pass(one), first);
  other.set_epoch(0);
  EXPECT_EQ(whole_pass(other), first);
  BatchSampler dropping(25, 0, 1, {.batch_size = 10, .drop_last = true});
  EXPECT_EQ(dropping.size(), 2);
  EXPECT_EQ(whole_pass(dropping).size(), 20u);
}

TEST(BatchSampler, GoesOnWhereItWasSaved) {
  BatchSampler sampler(40, 1, 2, {.batch_size = 5, .shuffle = true, .seed = 3});
  sampler.set_epoch(2);
  sampler.next();
  const std::string saved = sampler.save();
  const auto rest = whole_pass(sampler);
  BatchSampler again(40, 1, 2, {.batch_size = 5, .shuffle = true, .seed = 3});
  ASSERT_TRUE(again.restore(saved).ok());
  EXPECT_EQ(whole_pass(again), rest);
  BatchSampler wider(40, 1, 4, {.batch_size = 5, .shuffle = true, .seed = 3});
  EXPECT_EQ(wider.restore(saved).code(), Code::failed_precondition);
  EXPECT_EQ(wider.epoch(), 2);
  EXPECT_EQ(wider.position(), 0);
  EXPECT_EQ(BatchSampler(41, 0, 1, {}).restore(saved).code(), Code::failed_precondition);
  EXPECT_EQ(again.restore("nonsense").code(), Code::data_loss);
}

TEST(LocalSgd, AveragesEveryKSteps) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    at::Tensor single = at::zeros({2, 2}), twice = at::zeros({3}, at::kDouble);
    LocalSgd local(group, {single, twice}, {.k_steps = 3});
    std::vector<bool> averaged;
    for (int step = 0; step < 7; ++step) {
      single.add_(place.rank + 1);
      twice.add_(place.rank);
      averaged.push_back(value_or_throw(local.step()));
    }
    require(averaged == std::vector<bool>({true, false, false, true, false, false, true}), "when");
    require(single.allclose(at::full({2, 2}, 7 * 1.5)) && twice.allclose(at::full({3}, 7 * 0.5, at::kDouble)), "the mean");
  });
}

TEST(LocalSgd, AdaptsItsStepsToLossAndRate) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    LocalSgd local(group, {at::zeros({1})}, {.k_steps = 4, .adaptive = true});
    value_or_throw(local.step(2.0, 0.1));
    require(local.k_steps() == 2, "sqrt(4 * 1)");
    for (int step = 0; step < 2; ++step) value_or_throw(local.step(place.rank == 0 ? 1.0 : 0.0, 0.1 / 16));
    require(local.k_steps() == 4, fmt::format("sqrt(4 * 16 * 0.25), found {}", local.k_steps()));  // mean loss 0.5 of 2
  });
}

// Rank's part of a batch; parts are of different sizes.
at::Tensor part(const at::Tensor& whole, int rank) { return rank == 0 ? whole.narrow(0, 0, 2) : whole.narrow(0, 2, 4); }

TEST(SyncBatchNorm, EqualsBatchNormOfTheCombinedBatch) {
  expect_ranks(2, [](const RankInfo& place) {
    auto group = join(place);
    at::manual_seed(7);
    const at::Tensor whole = at::randn({6, 3, 4, 4}, at::kDouble) * 3 + 100, outer = at::randn({6, 3, 4, 4}, at::kDouble);
    const auto make = [] {
      return BatchNormState{.weight = at::tensor({1.0, 2.0, 3.0}, at::kDouble).set_requires_grad(true),
                            .bias = at::tensor({0.1, 0.2, 0.3}, at::kDouble).set_requires_grad(true),
                            .running_mean = at::zeros({3}, at::kDouble),
                            .running_var = at::ones({3}, at::kDouble)};
    };
    const auto mine = make(), expected = make();
    at::Tensor input = part(whole, place.rank).clone().set_requires_grad(true), all = whole.clone().set_requires_grad(true);
    const auto out = sync_batch_norm(input, mine, true, group);
    const auto reference =
        at::batch_norm(all, expected.weight, expected.bias, expected.running_mean, expected.running_var, true, 0.1, 1e-5, false);
    require(out.allclose(part(reference, place.rank), 1e-10, 1e-10), "output");
    require(mine.running_mean.allclose(expected.running_mean) && mine.running_var.allclose(expected.running_var),
            "running values");
    (out * part(outer, place.rank)).sum().backward();
    (reference * outer).sum().backward();
    require(input.grad().allclose(part(all.grad(), place.rank), 1e-8, 1e-10), "gradient of the input");
    at::Tensor weight = mine.weight.grad().clone(), bias = mine.bias.grad().clone();
    throw_if_error(group->all_reduce(weight));
    throw_if_error(group->all_reduce(bias));
    require(weight.allclose(expected.weight.grad()) && bias.allclose(expected.bias.grad()), "gradients of the parameters");
    const auto evaluated = sync_batch_norm(input, mine, false, group);
    require(evaluated.allclose(part(at::batch_norm(all, expected.weight, expected.bias, expected.running_mean,
                                                   expected.running_var, false, 0.1, 1e-5, false),
                                    place.rank)),
            "evaluation");
  });
}

template <typename Optimizer>
at::Tensor trained(Optimizer& optimizer, at::Tensor weight, int steps) {
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    (weight.square() * at::arange(1, 5)).sum().backward();
    optimizer.step();
  }
  return weight;
}

TEST(FusedAdam, IsAdam) {
  for (const bool amsgrad : {false, true}) {
    const auto options = torch::optim::AdamOptions(0.1).weight_decay(0.01).amsgrad(amsgrad);
    at::Tensor a = at::ones({4}).set_requires_grad(true), b = at::ones({4}).set_requires_grad(true);
    torch::optim::Adam adam({a}, options);
    FusedAdam fused({b}, options);
    trained(adam, a, 5);
    trained(fused, b, 5);
    EXPECT_TRUE(a.allclose(b, 1e-6, 1e-7));
  }
}

TEST(FusedAdam, IsSavedAndLoadedWithItsSteps) {
  at::Tensor a = at::ones({4}).set_requires_grad(true);
  FusedAdam first({a}, torch::optim::AdamOptions(0.1));
  trained(first, a, 3);
  std::stringstream file;
  torch::save(first, file);
  at::Tensor b = a.detach().clone().set_requires_grad(true);
  FusedAdam second({b}, torch::optim::AdamOptions(0.1));
  torch::load(second, file);
  trained(first, a, 2);
  trained(second, b, 2);
  EXPECT_TRUE(a.equal(b));
}

TEST(CapturedStep, SaysThatItNeedsAGpu) {
  CapturedStep step([] { return at::zeros({1}); });
  EXPECT_EQ(step.run().status().code(), Code::unimplemented);
}

}  // namespace
}  // namespace argosy::collective
