// The loss down a tree of classes: the classes' probabilities are one together, and each is the product along its path.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "argosy/engine/ops/apply_op_test.h"

namespace argosy::engine {
namespace {

using testing::HasSubstr;

class ClassTree : public OpTest {
 protected:
  Variable loss(int32_t classes, graph::SlotMap more = {}) {
    for (const auto& [slot, name] : {std::pair{"X", "x"}, std::pair{"W", "w"}, std::pair{"Label", "label"}}) more[slot] = {name};
    return apply_op("hierarchical_sigmoid", std::move(more), {{"num_classes", classes}})[0];
  }
  const Variable x_ = data("x", {-1, 4}), w_ = data("w", {-1, 4}), label_ = data("label", {-1, 1}, DType::int64),
                 bias_ = data("bias", {-1, 1});
};

// Whatever the weights: one sample, once with each class as its label. Levels behind a path's end count log 2 each, as
// PaddlePaddle's do.
TEST_F(ClassTree, TheProbabilitiesOfAllClassesAreOne) {
  for (const int32_t classes : {2, 3, 4, 7, 8, 9, 20}) {
    const BuiltHere here(*main_);
    const Variable out = loss(classes, {{"Bias", {"bias"}}});
    const Feed feed = {{"x", {.tensor = at::randn({1, 4}, at::kDouble).expand({classes, 4}).contiguous()}},
                       {"w", {.tensor = at::randn({classes - 1, 4}, at::kDouble)}},
                       {"bias", {.tensor = at::randn({classes - 1, 1}, at::kDouble)}},
                       {"label", {.tensor = at::arange(classes, at::kLong).view({-1, 1})}}};
    const at::Tensor found = run(feed, out);
    const auto depth = std::bit_width(static_cast<uint32_t>(classes - 1));
    double sum = 0;
    for (int32_t label = 0; label < classes; ++label) {
      const int behind = depth - (std::bit_width(static_cast<uint32_t>(label + classes)) - 1);
      sum += std::exp(behind * std::numbers::ln2 - found[label][0].item<double>());
    }
    EXPECT_NEAR(sum, 1.0, 1e-9) << classes << " classes";
  }
}

TEST_F(ClassTree, GradientsReachTheRowsOfThePath) {
  const Variable out = loss(5, {{"Bias", {"bias"}}});
  check_gradients(out,
                  {{"x", {.tensor = at::randn({3, 4}, at::kDouble)}},
                   {"w", {.tensor = at::randn({4, 4}, at::kDouble)}},
                   {"bias", {.tensor = at::randn({4, 1}, at::kDouble)}},
                   {"label", {.tensor = longs({4, 0, 4}).view({3, 1})}}},
                  {x_, w_, bias_});
}

// A tree of one's own: each label's rows and sides, up to the first row below 0.
TEST_F(ClassTree, AGivenPathIsFollowedToItsEnd) {
  const Variable table = data("table", {-1, 3}, DType::int64), code = data("code", {-1, 3}, DType::int64);
  const Variable out = loss(4, {{"PathTable", {table.name()}}, {"PathCode", {code.name()}}});
  const at::Tensor x = at::randn({2, 4}, at::kDouble), w = at::randn({3, 4}, at::kDouble);
  const Feed feed = {{"x", {.tensor = x}},
                     {"w", {.tensor = w}},
                     {"label", {.tensor = longs({0, 1}).view({2, 1})}},
                     {"table", {.tensor = longs({2, 0, 1, /**/ 1, -1, 0}).view({2, 3})}},
                     {"code", {.tensor = longs({1, 0, 1, /**/ 0, 1, 1}).view({2, 3})}}};
  const auto decision = [&](int64_t sample, int64_t row, bool side) {  // of the logistic function
    const double product = at::dot(x[sample], w[row]).item<double>();
    return std::log1p(std::exp(side ? -product : product));
  };
  const at::Tensor found = run(feed, out);
  EXPECT_NEAR(found[0][0].item<double>(), decision(0, 2, true) + decision(0, 0, false) + decision(0, 1, true), 1e-9);
  EXPECT_NEAR(found[1][0].item<double>(), decision(1, 1, false) + 2 * std::numbers::ln2, 1e-9) << "row 0 lies behind the end";
}

// Products beyond 40 count as 40, so that the loss is finite; their gradient goes on.
TEST_F(ClassTree, ALargeProductIsLimitedButStillLearns) {
  const Variable out = loss(2);
  const Feed feed = {{"x", {.tensor = at::full({1, 4}, 50.0, at::kDouble)}},
                     {"w", {.tensor = at::ones({1, 4}, at::kDouble)}},
                     {"label", {.tensor = longs({0}).view({1, 1})}}};
  EXPECT_NEAR(run(feed, out).item<double>(), 40.0, 1e-6);
  EXPECT_NEAR(run(feed, graph::gradients({out}, {w_})[0])[0][0].item<double>(), 50.0, 1e-6);
}

TEST_F(ClassTree, LabelsOutsideAreNamedWithTheirRange) {
  Feed feed = {{"x", {.tensor = at::randn({2, 4}, at::kDouble)}},
               {"w", {.tensor = at::randn({4, 4}, at::kDouble)}},
               {"label", {.tensor = longs({2, 5}).view({2, 1})}}};
  EXPECT_THAT(error_with(feed, [&] { return loss(5); }), HasSubstr("labels 'label' are from 2 to 5, expected 0 to 4"));
  feed["label"].tensor = longs({-1, 4}).view({2, 1});
  EXPECT_THAT(error_with(feed, [&] { return loss(5); }), HasSubstr("labels 'label' are from -1 to 4, expected 0 to 4"));
  EXPECT_THAT(error_with(feed, [&] { return loss(1); }), HasSubstr("attribute 'num_classes' is 1, expected 2 or more"));
}

}  // namespace
}  // namespace argosy::engine
