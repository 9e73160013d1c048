// Losses against their formulas, and gradients against differences.
#include "argosy/graph/layers/loss.h"

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"

namespace argosy::engine {
namespace {

// The loss, the operands and what it should be; every operand of `inputs` is random in (0.1, 0.9) and gets its gradient checked.
class Loss : public LayerTest {
 protected:
  void check(const Variable& loss, const std::vector<Variable>& inputs, const at::Tensor& expected) {
    EXPECT_TRUE(at::allclose(run(feed_, loss), expected, 1e-6, 1e-7)) << run(feed_, loss) << "\nexpected:\n" << expected;
    check_gradients(loss, feed_, inputs);
  }
  Variable operand(const std::string& name, std::vector<int64_t> shape) {
    feed_[name] = {.tensor = at::rand(shape, at::kDouble) * 0.8 + 0.1};
    shape[0] = -1;
    return data(name, shape);
  }
  at::Tensor& value(const Variable& of) { return feed_.at(of.name()).tensor; }

  Feed feed_;
};

TEST_F(Loss, SigmoidCrossEntropyIgnoresAndNormalizes) {
  const Variable x = operand("x", {3, 2}), y = operand("y", {3, 2});
  value(x) = at::randn({3, 2}, at::kDouble) * 3;
  y.desc().stop_gradient = true;
  const at::Tensor p = at::sigmoid(value(x)), q = value(y);
  const at::Tensor full = -(q * at::log(p) + (1 - q) * at::log(1 - p));
  check(layers::sigmoid_cross_entropy_with_logits(x, y), {x}, full);
  value(y)[1][0] = -1;
  const at::Tensor some = full.clone();
  some[1][0] = 0;
  check(layers::sigmoid_cross_entropy_with_logits(x, y, {.ignore_index = -1, .normalize = true}), {x}, some / 5);
}

TEST_F(Loss, SigmoidCrossEntropyAtZeroHasItsOwnGradient) {
  const Variable x = operand("x", {1, 1}), y = operand("y", {1, 1});
  value(x).zero_();
  y.desc().stop_gradient = true;
  check_gradients(layers::sigmoid_cross_entropy_with_logits(x, y), feed_, {x});
}

TEST_F(Loss, Squares) {
  const Variable x = operand("x", {3, 2}), y = operand("y", {3, 2});
  const Variable cost = layers::square_error_cost(x, y);
  EXPECT_EQ(cost.name(), "square_error_cost_0.tmp_1");
  check(cost, {x, y}, (value(x) - value(y)).square());
  EXPECT_TRUE(at::allclose(run(feed_, layers::mse_loss(x, y)), (value(x) - value(y)).square().mean().reshape({1})));
}

TEST_F(Loss, Log) {
  const Variable p = operand("p", {4, 1}), y = operand("y", {4, 1});
  const at::Tensor expected = -value(y) * at::log(value(p) + 1e-2) - (1 - value(y)) * at::log(1 - value(p) + 1e-2);
  check(layers::log_loss(p, y, 1e-2f), {p}, expected);
}

TEST_F(Loss, HuberIsALineFarOut) {
  const Variable x = operand("x", {4, 1}), y = operand("y", {4, 1});
  value(x).copy_(at::tensor({0.0, 0.1, 2.0, -3.0}).reshape({4, 1}));
  value(y).zero_();
  const Variable loss = layers::huber_loss(x, y, 0.5f);
  EXPECT_EQ(loss.name(), "huber_loss_0.tmp_1");
  check(loss, {x, y}, at::tensor({0.0, 0.005, 0.5 * (2.0 - 0.25), 0.5 * (3.0 - 0.25)}, at::kDouble).reshape({4, 1}));
}

TEST_F(Loss, SmoothL1SumsEachRow) {
  const Variable x = operand("x", {3, 4}), y = operand("y", {3, 4}), inside = operand("inside", {3, 4}),
                 outside = operand("outside", {3, 4});
  value(x).mul_(4);
  for (const Variable& weight : {inside, outside}) weight.desc().stop_gradient = true;
  const at::Tensor d = (value(x) - value(y)) * value(inside), a = d.abs();
  const at::Tensor each = at::where(a < 0.25, d.square() * 2, a - 0.125) * value(outside);
  check(layers::smooth_l1(x, y, {.inside_weight = inside, .outside_weight = outside, .sigma = 2}), {x, y}, each.sum(1, true));
}

TEST_F(Loss, KlDivergenceReducesAsTold) {
  const Variable x = operand("x", {3, 4}), target = operand("target", {3, 4});
  target.desc().stop_gradient = true;
  value(target)[0][0] = 0;
  const at::Tensor each = at::xlogy(value(target), value(target)) - value(target) * value(x);
  check(layers::kldiv_loss(x, target, "none"), {x}, each);
  check(layers::kldiv_loss(x, target), {x}, each.mean().reshape({1}));
  check(layers::kldiv_loss(x, target, "sum"), {x}, each.sum().reshape({1}));
  check(layers::kldiv_loss(x, target, "batchmean"), {x}, (each.sum() / 3).reshape({1}));
  EXPECT_THROW(layers::kldiv_loss(x, target, "median"), Error);
}

TEST_F(Loss, RanksPairs) {
  const Variable label = operand("label", {4, 1}), left = operand("left", {4, 1}), right = operand("right", {4, 1});
  const at::Tensor lead = value(left) - value(right);
  check(layers::rank_loss(label, left, right), {left, right}, at::log1p(at::exp(lead)) - value(label) * lead);
  value(label).copy_(at::tensor({1.0, -1.0, 1.0, -1.0}).reshape({4, 1}));
  check(layers::margin_rank_loss(label, left, right, 0.2f), {left, right}, (-value(label) * lead + 0.2).clamp_min(0));
}

TEST_F(Loss, BprComparesTheLabelWithAllOthers) {
  const Variable x = operand("x", {3, 4}), label = data("label", {-1, 1}, DType::int64);
  feed_["label"] = {.tensor = at::tensor({0, 3, 1}, at::kLong).unsqueeze(1)};
  at::Tensor expected = at::zeros({3, 1}, at::kDouble);
  const std::vector<int64_t> classes = {0, 3, 1};
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      if (j != classes[static_cast<size_t>(i)])
        expected[i] -= at::log_sigmoid(value(x)[i][classes[static_cast<size_t>(i)]] - value(x)[i][j]) / 3;
    }
  }
  check(layers::bpr_loss(x, label), {x}, expected);
  feed_["label"] = {.tensor = at::full({3, 1}, 4, at::kLong)};
  EXPECT_NE(error_of(feed_, layers::bpr_loss(x, label)).find("outside 0 to 3"), std::string::npos);
}

TEST_F(Loss, LabelSmoothMixes) {
  const Variable label = operand("label", {2, 4}), prior = operand("prior", {1, 4});
  prior.desc().stop_gradient = true;
  check(layers::label_smooth(label, {.epsilon = 0.2f}), {label}, value(label) * 0.8 + 0.05);
  EXPECT_TRUE(at::allclose(run(feed_, layers::label_smooth(label, {.prior_dist = prior, .epsilon = 0.2f})),
                           value(label) * 0.8 + value(prior) * 0.2, 1e-6, 1e-7));
}

TEST_F(Loss, CosineOfRows) {
  const Variable x = operand("x", {3, 4}), y = operand("y", {3, 4}), one = operand("one", {1, 4});
  const auto length = [](const at::Tensor& rows) { return rows.square().sum(1, true).sqrt(); };
  check(layers::cos_sim(x, y), {x, y}, (value(x) * value(y)).sum(1, true) / length(value(x)) / length(value(y)));
  check(layers::cos_sim(x, one), {x, one}, (value(x) * value(one)).sum(1, true) / length(value(x)) / length(value(one)));
  value(y).zero_();
  EXPECT_TRUE(at::equal(run(feed_, layers::cos_sim(x, y)), at::zeros({3, 1}, at::kDouble)));
}

TEST_F(Loss, ShapesThatDifferAreNamed) {
  const Variable p = operand("p", {4, 1}), y = operand("y", {3, 1});
  const std::string message = error_of(feed_, layers::log_loss(p, y));
  EXPECT_NE(message.find("'p' has shape [4, 1], 'y' has [3, 1]"), std::string::npos) << message;
}

}  // namespace
}  // namespace argosy::engine
