#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/nn.h"

namespace argosy::engine {
namespace {

using Dropout = LayerTest;
using Norm = LayerTest;

TEST_F(Dropout, DropsTheGivenPartAndScalesWhatItSays) {
  const Variable x = data("x", {-1});
  const Variable plain = layers::dropout(x, 0.3f),
                 scaled = layers::dropout(x, 0.3f, {.dropout_implementation = "upscale_in_train"});
  const auto got = run({{"x", {.tensor = at::ones({20000}, at::kDouble)}}}, {plain, scaled});
  EXPECT_NEAR(got[0].tensor.mean().item<double>(), 0.7, 0.02);
  EXPECT_NEAR(got[1].tensor.mean().item<double>(), 1.0, 0.03);
  EXPECT_NEAR(got[1].tensor.max().item<double>(), 1 / 0.7, 1e-6);
}

TEST_F(Dropout, ATestDropsNothing) {
  const Variable x = data("x", {-1});
  const Variable plain = layers::dropout(x, 0.3f, {.is_test = true});
  const Variable scaled = layers::dropout(x, 0.3f, {.is_test = true, .dropout_implementation = "upscale_in_train"});
  const at::Tensor value = at::randn({10}, at::kDouble);
  const auto got = run({{"x", {.tensor = value}}}, {plain, scaled});
  EXPECT_TRUE(at::allclose(got[0].tensor, value * 0.7, 1e-6));
  EXPECT_TRUE(at::equal(got[1].tensor, value));
}

// The gradient goes where the value went: with a fixed seed the differences see the same mask.
TEST_F(Dropout, ASeedFixesTheMask) {
  const Variable x = data("x", {-1, 3});
  const Variable out = layers::dropout(x, 0.5f, {.seed = 7, .dropout_implementation = "upscale_in_train"});
  const Feed feed = {{"x", {.tensor = at::randn({4, 3}, at::kDouble)}}};
  EXPECT_TRUE(at::equal(run(feed, out), run(feed, out)));
  check_gradients(out, feed, {x});
}

TEST_F(Dropout, RefusesANonsensicalPartOrForm) {
  const Variable x = data("x", {-1});
  EXPECT_THROW(layers::dropout(x, 1.5f), Error);
  const Variable out = layers::dropout(x, 0.5f, {.dropout_implementation = "sometimes"});
  EXPECT_NE(error_of({{"x", {.tensor = at::ones({1}, at::kDouble)}}}, out).find("'sometimes' is not known"), std::string::npos);
}

at::Tensor by_channel(const at::Tensor& values) { return values.reshape({1, -1, 1, 1}); }

TEST_F(Norm, BatchNormUsesTheBatchAndMovesTheRunningStatistics) {
  const Variable x = data("x", {-1, 3, -1, -1});
  const Variable out = layers::batch_norm(x, {.momentum = 0.8f, .epsilon = 1e-3f});
  EXPECT_EQ(out.name(), "batch_norm_0.tmp_2");
  start();
  stored("batch_norm_0.w_0").uniform_(0.5, 2);
  stored("batch_norm_0.b_0").uniform_();
  const Feed feed = {{"x", {.tensor = at::randn({5, 3, 4, 4}, at::kDouble) * 3 + 1}}};
  const at::Tensor value = feed.at("x").tensor;
  const at::Tensor mean = value.mean({0, 2, 3}), variance = value.var({0, 2, 3}, false);
  const at::Tensor expected =
      (value - by_channel(mean)) / (by_channel(variance) + 1e-3).sqrt() * by_channel(stored("batch_norm_0.w_0")) +
      by_channel(stored("batch_norm_0.b_0"));
  EXPECT_TRUE(at::allclose(run(feed, out), expected, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(stored("batch_norm_0.w_1"), mean * 0.2, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(stored("batch_norm_0.w_2"), variance * 0.2 + 0.8, 1e-5, 1e-6));
  const auto& block = main_->global_block();
  check_gradients(out, {{"x", {.tensor = at::randn({2, 3, 2, 2}, at::kDouble)}}},
                  {x, Variable(main_, main_->global_block(), *block.find_var("batch_norm_0.w_0")),
                   Variable(main_, main_->global_block(), *block.find_var("batch_norm_0.b_0"))});
}

// As in Paddle: y is x, nothing is learned, and the running statistics stay.
TEST_F(Norm, BatchNormOfOneValuePerChannelLetsItThrough) {
  const Variable x = data("x", {-1, 3});
  const Variable out = layers::batch_norm(x);
  start();
  stored("batch_norm_0.w_0").fill_(2);
  stored("batch_norm_0.b_0").fill_(5);
  const Feed feed = {{"x", {.tensor = at::tensor({1.0, -2.0, 3.0}, at::kDouble).reshape({1, 3})}}};
  EXPECT_TRUE(at::equal(run(feed, out), feed.at("x").tensor));
  EXPECT_TRUE(at::equal(stored("batch_norm_0.w_1"), at::zeros({3}, at::kDouble)));
  EXPECT_TRUE(at::equal(stored("batch_norm_0.w_2"), at::ones({3}, at::kDouble)));
  const auto& block = main_->global_block();
  check_gradients(out, feed, {x, Variable(main_, main_->global_block(), *block.find_var("batch_norm_0.w_0"))});
}

// For workers of parameter servers, which move the running statistics themselves.
TEST_F(Norm, BatchNormGivesTheBatchsStatisticsAndLeavesTheRunningOnes) {
  const Variable x = data("x", {-1, 3});
  const Variable out = layers::batch_norm(x);
  graph::Block& block = main_->global_block();
  graph::OpDesc& op = *block.ops().back();
  for (const auto& slots : graph::kBatchStatistics) {
    op.outputs[slots.batch] = {std::string(slots.batch)};
    block.put_var({.name = std::string(slots.batch), .dtype = graph::DType::float64, .shape = {3}});
  }
  start();
  const Feed feed = {{"x", {.tensor = at::randn({7, 3}, at::kDouble) * 3 + 1}}};
  const at::Tensor value = feed.at("x").tensor;
  const auto got =
      run(feed, {Variable(main_, block, *block.find_var("BatchMean")), Variable(main_, block, *block.find_var("BatchVariance"))});
  EXPECT_TRUE(at::allclose(got[0].tensor, value.mean(0)));
  EXPECT_TRUE(at::allclose(got[1].tensor, value.var(0, false)));
  EXPECT_TRUE(at::equal(stored("batch_norm_0.w_1"), at::zeros({3}, at::kDouble)));
  EXPECT_TRUE(at::equal(stored("batch_norm_0.w_2"), at::ones({3}, at::kDouble)));
  const auto test = main_->clone(true);
  EXPECT_EQ(test->global_block().ops().back()->outputs.find("BatchMean"), nullptr) << "a test sends nothing";
}

TEST_F(Norm, BatchNormWithFixedStatisticsLeavesThem) {
  const Variable x = data("x", {-1, 2});
  const Variable test = layers::batch_norm(x, {.is_test = true, .moving_mean_name = "m", .moving_variance_name = "v"});
  const Variable global = layers::batch_norm(x, {.moving_mean_name = "m", .moving_variance_name = "v", .use_global_stats = true});
  start();
  stored("m").copy_(at::tensor({1.0, -1.0}));
  stored("v").copy_(at::tensor({4.0, 0.25}));
  const Feed feed = {{"x", {.tensor = at::randn({5, 2}, at::kDouble)}}};
  const at::Tensor expected = (feed.at("x").tensor - stored("m")) / (stored("v") + 1e-5).sqrt();
  const auto got = run(feed, {test, global});
  EXPECT_TRUE(at::allclose(got[0].tensor, expected, 1e-5, 1e-6));
  EXPECT_TRUE(at::allclose(got[1].tensor, expected, 1e-5, 1e-6));
  EXPECT_TRUE(at::equal(stored("m"), at::tensor({1.0, -1.0}, at::kDouble)));
  check_gradients(global, feed, {x});
}

TEST_F(Norm, BatchNormTakesChannelsLast) {
  const Variable x = data("x", {-1, 4, 4, 3}), y = data("y", {-1, 3, 4, 4});
  const Variable last = layers::batch_norm(x, {.data_layout = "NHWC"}), first = layers::batch_norm(y);
  start();
  const at::Tensor value = at::randn({2, 4, 4, 3}, at::kDouble);
  const auto got = run({{"x", {.tensor = value}}, {"y", {.tensor = value.permute({0, 3, 1, 2})}}}, {last, first});
  EXPECT_TRUE(at::allclose(got[0].tensor.permute({0, 3, 1, 2}), got[1].tensor));
  EXPECT_THROW(layers::batch_norm(x, {.data_layout = "CHWN"}), Error);
}

TEST_F(Norm, LayerNormScalesEachSample) {
  const Variable x = data("x", {-1, 3, 4});
  const Variable out = layers::layer_norm(x, {.epsilon = 1e-3f});
  EXPECT_EQ(main_->global_block().find_var("layer_norm_0.w_0")->shape, std::vector<int64_t>{12});
  start();
  stored("layer_norm_0.w_0").uniform_(0.5, 2);
  const Feed feed = {{"x", {.tensor = at::randn({2, 3, 4}, at::kDouble)}}};
  const at::Tensor flat = feed.at("x").tensor.reshape({2, 12});
  const at::Tensor expected = (flat - flat.mean(1, true)) / (flat.var(1, false, true) + 1e-3).sqrt() * stored("layer_norm_0.w_0");
  EXPECT_TRUE(at::allclose(run(feed, out).reshape({2, 12}), expected, 1e-5, 1e-6));
  check_gradients(out, feed, {x, Variable(main_, main_->global_block(), *main_->global_block().find_var("layer_norm_0.w_0"))});
}

TEST_F(Norm, LayerNormWithoutParametersFromALaterAxis) {
  const Variable x = data("x", {-1, 3, 4});
  const Variable out = layers::layer_norm(x, {.scale = false, .shift = false, .begin_norm_axis = 2});
  EXPECT_TRUE(main_->parameters().empty());
  const at::Tensor value = at::randn({2, 3, 4}, at::kDouble);
  EXPECT_TRUE(at::allclose(run({{"x", {.tensor = value}}}, out),
                           (value - value.mean(2, true)) / (value.var(2, false, true) + 1e-5).sqrt(), 1e-5, 1e-6));
  EXPECT_THROW(layers::layer_norm(x, {.begin_norm_axis = 3}), Error);
}

}  // namespace
}  // namespace argosy::engine
