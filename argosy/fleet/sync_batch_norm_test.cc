#include "argosy/fleet/sync_batch_norm.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/serialize.h>

#include <sstream>

#include "argosy/base/error.h"
#include "argosy/fleet/collective_training.h"
#include "argosy/testing/ranks.h"

namespace argosy::fleet {
namespace {

using torch::nn::BatchNormOptions;

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

void expect_ranks(int count, const std::function<void(const RankInfo&)>& body) {
  const auto ends = testing::run_ranks(count, [&](const RankInfo& place) {
    at::set_num_threads(1);
    init({.is_collective = true}, place);
    body(place);
    leave();
  });
  for (int rank = 0; rank < count; ++rank) EXPECT_EQ(ends[rank].status, 0) << "rank " << rank << ": " << ends[rank].output;
}

// Rank's part of a batch; parts are of different sizes.
at::Tensor part(const at::Tensor& whole, int rank) { return rank == 0 ? whole.narrow(0, 0, 2) : whole.narrow(0, 2, 4); }

// A network of two ranks, against torch's in one process with both parts: outputs, running values, evaluation, and a parameter
// after a step of each.
void compare(const RankInfo& place, const BatchNormOptions& options) {
  at::manual_seed(7);
  const at::Tensor whole = at::randn({6, 2, 4, 4}, at::kDouble) * 3 + 10;
  torch::nn::Sequential mine(torch::nn::Conv2d(2, 3, 3), SyncBatchNorm(options));
  torch::nn::Sequential theirs(torch::nn::Conv2d(2, 3, 3), torch::nn::BatchNorm2d(options));
  mine->to(at::kDouble);
  theirs->to(at::kDouble);
  std::stringstream saved;
  torch::save(mine, saved);
  torch::load(theirs, saved);  // the names are the same
  auto model = distributed_model(mine);
  for (int step = 0; step < 3; ++step) {
    const at::Tensor all = whole * (step + 1);
    const at::Tensor out = model.forward(part(all, place.rank)), expected = theirs->forward(all);
    require(out.allclose(part(expected, place.rank), 1e-9, 1e-9), "output of step " + std::to_string(step));
    (out.square().sum() * 2).backward();  // 2: gradients are a mean of two ranks
    expected.square().sum().backward();
  }
  const auto own = mine->named_buffers(), other = theirs->named_buffers();
  for (const auto& item : own) require(item.value().allclose(other[item.key()], 1e-9), item.key());
  const auto parameters = mine->named_parameters(), expected = theirs->named_parameters();
  for (const auto& item : parameters)
    require(item.value().grad().allclose(expected[item.key()].grad(), 1e-7, 1e-7), "gradient of " + item.key());
  mine->eval();
  theirs->eval();
  require(mine->forward(whole).allclose(theirs->forward(whole), 1e-9, 1e-9), "evaluation");
}

TEST(SyncBatchNormModule, EqualsTorchsWithTheCombinedBatch) {
  expect_ranks(2, [](const RankInfo& place) {
    compare(place, BatchNormOptions(3));
    compare(place, BatchNormOptions(3).momentum(std::nullopt).eps(1e-3));
    compare(place, BatchNormOptions(3).affine(false));
    compare(place, BatchNormOptions(3).track_running_stats(false));
  });
}

TEST(SyncBatchNormModule, NormalisesOverAGroup) {
  expect_ranks(3, [](const RankInfo& place) {
    auto pair = value_or_throw(world()->subgroup({0, 2}));
    if (place.rank == 1) return;
    SyncBatchNorm norm(BatchNormOptions(1), pair);
    const at::Tensor out = norm(at::full({1, 1}, place.rank, at::kFloat));  // mean 1, variance 1
    require(std::abs(out.item<float>() - static_cast<float>(place.rank - 1)) < 1e-4, "value");
  });
}

TEST(SyncBatchNormModule, RefusesInputsOfAnotherShapeAndShowsItself) {
  SyncBatchNorm norm(3);
  EXPECT_THROW(norm(at::zeros({2, 4, 1})), c10::Error);
  EXPECT_THROW(norm(at::zeros({3})), c10::Error);
  std::stringstream shown;
  shown << norm;
  EXPECT_EQ(shown.str(), "argosy::fleet::SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)");
}

}  // namespace
}  // namespace argosy::fleet
