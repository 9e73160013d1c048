#include "argosy/collective/fused_batch_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

namespace argosy::collective {
namespace {

struct Case {
  std::vector<int64_t> shape;
  at::ScalarType type = at::kFloat, parameters = at::kFloat;
  double tolerance = 1e-5;
};

c10::Device device() { return torch::cuda::is_available() ? c10::Device("cuda:0") : c10::Device(c10::kCPU); }

at::Tensor drawn(const Case& one) {
  return (at::randn(one.shape) * 2 + 3).to(device(), one.type).contiguous(at::MemoryFormat::ChannelsLast).requires_grad_();
}

double distance(const at::Tensor& found, const at::Tensor& expected) {
  const at::Tensor wide = expected.to(at::kDouble).cpu();
  return ((found.to(at::kDouble).cpu() - wide).norm() / (wide.norm() + 1e-12)).item<double>();
}

// The module beside torch's of the same values in double precision.
struct Pair {
  explicit Pair(const Case& one) : fused(one.shape[1]), exact(one.shape[1]) {
    torch::NoGradGuard no_grad;
    fused->weight.uniform_(-1, 1);
    fused->bias.normal_();
    fused->to(device(), one.parameters);
    exact->to(at::kDouble);
    exact->weight.copy_(fused->weight);
    exact->bias.copy_(fused->bias);
  }
  void expect_equal(double tolerance) const {
    EXPECT_LT(distance(fused->weight.grad(), exact->weight.grad()), tolerance);
    EXPECT_LT(distance(fused->bias.grad(), exact->bias.grad()), tolerance);
    EXPECT_LT(distance(fused->running_mean, exact->running_mean), tolerance);
    EXPECT_LT(distance(fused->running_var, exact->running_var), tolerance);
  }
  FusedBatchNorm fused;
  torch::nn::BatchNorm2d exact;
};

at::Tensor doubled(const at::Tensor& tensor) { return tensor.detach().cpu().to(at::kDouble).contiguous().requires_grad_(); }

class FusedBatchNormTest : public ::testing::TestWithParam<Case> {
 protected:
  // Without a GPU it is torch's functions that compute, whose 16-bit sums on the CPU have fewer digits.
  static double tolerance() { return device().is_cuda() || GetParam().type == at::kFloat ? GetParam().tolerance : 0.1; }

  // Whether the kernels are what is tested: on a GPU they must be.
  static void expect_kernels(const Pair& pair, const at::Tensor& input) {
    EXPECT_EQ(pair.fused->fuses(input), input.is_cuda() && input.size(1) % 8 == 0);
  }
};

TEST_P(FusedBatchNormTest, EqualsTorchsWithAReluAfterIt) {
  at::manual_seed(1);
  Pair pair(GetParam());
  const at::Tensor input = drawn(GetParam()), other = doubled(input), outer = at::randn_like(input);
  expect_kernels(pair, input);
  const at::Tensor found = pair.fused->relu(input), expected = at::relu(pair.exact(other));
  found.backward(outer);
  expected.backward(doubled(outer));
  EXPECT_LT(distance(found, expected), tolerance());
  EXPECT_LT(distance(input.grad(), other.grad()), tolerance());
  pair.expect_equal(tolerance());
}

TEST_P(FusedBatchNormTest, EqualsTorchsAlone) {
  at::manual_seed(2);
  Pair pair(GetParam());
  const at::Tensor input = drawn(GetParam()), other = doubled(input), outer = at::randn_like(input);
  const at::Tensor found = pair.fused(input), expected = pair.exact(other);
  found.backward(outer);
  expected.backward(doubled(outer));
  EXPECT_LT(distance(found, expected), tolerance());
  EXPECT_LT(distance(input.grad(), other.grad()), tolerance());
  pair.expect_equal(tolerance());
}

// Both outputs are used, each with a gradient of its own, as in a network that goes on in two branches.
TEST_P(FusedBatchNormTest, EqualsTorchsWithASumAndTwoBranches) {
  at::manual_seed(3);
  Pair pair(GetParam());
  const at::Tensor input = drawn(GetParam()), added = drawn(GetParam()), other = doubled(input), other_added = doubled(added);
  const at::Tensor first = at::randn_like(input), second = at::randn_like(input);
  const auto found = pair.fused->add_relu_for_two(input, added);
  const at::Tensor expected = at::relu(pair.exact(other) + other_added);
  (found[0] * first + found[1] * second).sum().backward();
  (expected * doubled(first) + expected * doubled(second)).sum().backward();
  EXPECT_LT(distance(found[1], expected), tolerance());
  EXPECT_LT(distance(input.grad(), other.grad()), tolerance());
  EXPECT_LT(distance(added.grad(), other_added.grad()), tolerance());
  pair.expect_equal(tolerance());
}

TEST_P(FusedBatchNormTest, OneBranchIsEnough) {
  at::manual_seed(4);
  Pair pair(GetParam());
  const at::Tensor input = drawn(GetParam()), added = drawn(GetParam()), other = doubled(input), other_added = doubled(added);
  const at::Tensor outer = at::randn_like(input);
  pair.fused->add_relu_for_two(input, added)[1].backward(outer);
  at::relu(pair.exact(other) + other_added).backward(doubled(outer));
  EXPECT_LT(distance(input.grad(), other.grad()), tolerance());
  EXPECT_LT(distance(added.grad(), other_added.grad()), tolerance());
}

// Twice the same module: what the kernels keep for themselves is as it was.
TEST_P(FusedBatchNormTest, GivesTheSameBitsAgain) {
  at::manual_seed(5);
  Pair pair(GetParam());
  const at::Tensor input = drawn(GetParam());
  const at::Tensor once = pair.fused->relu(input), twice = pair.fused->relu(input);
  EXPECT_TRUE(at::equal(once, twice));
}

INSTANTIATE_TEST_SUITE_P(Shapes, FusedBatchNormTest,
                         ::testing::Values(Case{{8, 64, 30, 31}}, Case{{4, 256, 14, 14}}, Case{{2, 8, 3, 3}}, Case{{3, 96, 5, 5}},
                                           Case{{5, 2048, 7, 7}}, Case{{3, 12, 5, 5}},
                                           Case{{2, 64, 1, 1}, at::kFloat, at::kFloat, 1e-3},
                                           Case{{8, 64, 30, 31}, at::kBFloat16, at::kFloat, 1e-2},
                                           Case{{8, 512, 14, 14}, at::kBFloat16, at::kBFloat16, 1e-2}));

INSTANTIATE_TEST_SUITE_P(Halves, FusedBatchNormTest,
                         ::testing::Values(Case{{4, 64, 9, 9}, at::kHalf, at::kFloat, 2e-3},
                                           Case{{4, 64, 9, 9}, at::kHalf, at::kHalf, 2e-3}));

TEST(FusedBatchNorm, EvaluationUsesTheRunningValues) {
  FusedBatchNorm norm(8);
  norm->to(device());
  norm->eval();
  const at::Tensor input = at::randn({2, 8, 3, 3}).to(device()).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_FALSE(norm->fuses(input));
  EXPECT_LT(distance(norm(input), input / std::sqrt(1 + 1e-5)), 1e-6);
}

TEST(FusedBatchNorm, WhatIsAddedMustBeLikeTheInput) {
  FusedBatchNorm norm(8);
  norm->to(device());
  const at::Tensor input = at::randn({2, 8, 3, 3}).to(device()).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_THROW(norm->add_relu(input, at::ones({2, 8, 5, 3}, input.options())), c10::Error);
}

}  // namespace
}  // namespace argosy::collective
