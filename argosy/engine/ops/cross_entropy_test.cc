#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/loss.h"

namespace argosy::engine {
namespace {

using CrossEntropy = LayerTest;

at::Tensor labels(std::vector<int64_t> values) { return at::tensor(values, at::kLong).unsqueeze(1); }
at::Tensor probabilities(int64_t rows, int64_t classes) { return at::softmax(at::randn({rows, classes}, at::kDouble), 1); }

TEST_F(CrossEntropy, IsMinusTheLogOfTheLabelsProbability) {
  const Variable x = data("x", {-1, 4});
  const Variable loss = layers::cross_entropy(x, data("label", {-1, 1}, DType::int64), {.ignore_index = 2});
  EXPECT_EQ(loss.name(), "cross_entropy2_0.tmp_0");
  EXPECT_EQ(loss.shape(), (std::vector<int64_t>{-1, 1}));
  const at::Tensor p = probabilities(4, 4);
  const Feed feed = {{"x", {.tensor = p}}, {"label", {.tensor = labels({3, 0, 2, 1})}}};
  const at::Tensor expected = -at::log(at::stack({p[0][3], p[1][0], at::ones({}, at::kDouble), p[3][1]})).unsqueeze(1);
  EXPECT_TRUE(at::allclose(run(feed, loss), expected));
  check_gradients(loss, feed, {x});
}

TEST_F(CrossEntropy, SoftLabelsWeighTheLogs) {
  const Variable x = data("x", {-1, 4}), label = data("label", {-1, 4});
  label.desc().stop_gradient = true;
  const Variable loss = layers::cross_entropy(x, label, {.soft_label = true});
  const at::Tensor p = probabilities(3, 4), q = probabilities(3, 4);
  const Feed feed = {{"x", {.tensor = p}}, {"label", {.tensor = q}}};
  EXPECT_TRUE(at::allclose(run(feed, loss), -(q * at::log(p)).sum(1, true)));
  check_gradients(loss, feed, {x});
}

// A probability that has become zero must not turn the parameters into NaN.
TEST_F(CrossEntropy, AZeroProbabilityHasAFiniteLossAndGradient) {
  const Variable x = data("x", {-1, 2}, DType::float32);
  const Variable loss = layers::cross_entropy(x, data("label", {-1, 1}, DType::int64));
  const auto grads = graph::gradients({loss}, {x});
  const auto got =
      run({{"x", {.tensor = at::tensor({0.0f, 1.0f}).unsqueeze(0)}}, {"label", {.tensor = labels({0})}}}, {loss, grads[0]});
  EXPECT_EQ(got[0].tensor.item<float>(), 1e20f);
  EXPECT_TRUE(at::isfinite(got[1].tensor).all().item<bool>());
}

TEST_F(CrossEntropy, ALabelOutsideTheClassesIsNamed) {
  const Variable loss = layers::cross_entropy(data("x", {-1, 2}, DType::float32), data("label", {-1, 1}, DType::int64));
  const std::string message = error_of({{"x", {.tensor = at::full({1, 2}, 0.5f)}}, {"label", {.tensor = labels({2})}}}, loss);
  EXPECT_NE(message.find("label 'label': class 2 at position 0 is outside the 2 classes"), std::string::npos) << message;
}

TEST_F(CrossEntropy, WithSoftmaxIsTheSameAsBoth) {
  const Variable x = data("x", {-1, 4});
  const auto out = layers::softmax_with_cross_entropy(x, data("label", {-1, 1}, DType::int64), {.ignore_index = 1});
  EXPECT_EQ(out.loss.name(), "softmax_with_cross_entropy_0.tmp_1");
  const at::Tensor logits = at::randn({4, 4}, at::kDouble), label = labels({3, 0, 1, 2});
  const Feed feed = {{"x", {.tensor = logits}}, {"label", {.tensor = label}}};
  const auto got = run(feed, {out.loss, out.softmax});
  const at::Tensor expected = -at::log_softmax(logits, 1).gather(1, label);
  expected[2] = 0;
  EXPECT_TRUE(at::allclose(got[0].tensor, expected));
  EXPECT_TRUE(at::allclose(got[1].tensor, at::softmax(logits, 1)));
  check_gradients(out.loss, feed, {x});
}

TEST_F(CrossEntropy, WithSoftmaxTakesSoftLabelsAndAnyAxis) {
  const Variable x = data("x", {-1, 4, 2}), label = data("label", {-1, 4, 2});
  label.desc().stop_gradient = true;
  const auto out = layers::softmax_with_cross_entropy(x, label, {.soft_label = true, .axis = 1});
  EXPECT_EQ(out.loss.shape(), (std::vector<int64_t>{-1, 1, 2}));
  const at::Tensor logits = at::randn({3, 4, 2}, at::kDouble), q = at::softmax(at::randn({3, 4, 2}, at::kDouble), 1);
  const Feed feed = {{"x", {.tensor = logits}}, {"label", {.tensor = q}}};
  EXPECT_TRUE(at::allclose(run(feed, out.loss), -(q * at::log_softmax(logits, 1)).sum(1, true)));
  check_gradients(out.loss, feed, {x});
}

}  // namespace
}  // namespace argosy::engine
