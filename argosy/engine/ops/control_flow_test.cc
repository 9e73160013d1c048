#include "argosy/graph/layers/control_flow.h"

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/fill.h"

namespace argosy::engine {
namespace {

using Variables = std::vector<Variable>;

at::Tensor numbers(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

// The value and the gradient are those of the branch that ran.
TEST_F(LayerTest, CondIsTheBranchThatRan) {
  const Variable x = data("x", {2}, DType::float64);
  const Variable flag = data("flag", {1}, DType::boolean);
  const Variable out =
      layers::cond(flag, [&] { return Variables{layers::square(x)}; }, [&] { return Variables{layers::exp(x)}; })[0];
  EXPECT_EQ(out.shape(), x.shape());
  const at::Tensor values = numbers({1.5, -0.5});
  for (const bool holds : {true, false}) {
    const Feed feed = {{"x", {.tensor = values}}, {"flag", {.tensor = at::full({1}, holds, at::kBool)}}};
    EXPECT_TRUE(at::allclose(run(feed, out), holds ? values.square() : values.exp()));
    check_gradients(out, feed, {x});
  }
}

TEST_F(LayerTest, WhileLoopMultipliesItsGradients) {
  const Variable x = data("x", {2}, DType::float64);
  const Variable n = data("n", {1}, DType::int64);
  const Variable i = layers::fill_constant({1}, DType::int64, 0);
  const Variable first = layers::scale(x);
  const Variables ended = layers::while_loop(
      [&](const Variables& now) { return layers::less_than(now[0], n); },
      [&](const Variables& now) { return Variables{layers::scale(now[0], 1.0f, 1.0f), layers::elementwise_mul(now[1], x)}; },
      {i, first});
  const at::Tensor values = numbers({1.5, -0.5});
  for (const int64_t rounds : {0, 1, 4}) {
    const Feed feed = {{"x", {.tensor = values}}, {"n", {.tensor = at::tensor({rounds}, at::kLong)}}};
    EXPECT_TRUE(at::allclose(run(feed, ended[1]), values.pow(rounds + 1))) << rounds << " rounds";
    check_gradients(ended[1], feed, {x});
  }
}

// A condition inside of a loop: odd numbers are added up, and only they.
TEST_F(LayerTest, AConditionRunsInsideALoop) {
  const Variable n = data("n", {1}, DType::int64);
  const Variable one = layers::fill_constant({1}, DType::int64, 1), two = layers::fill_constant({1}, DType::int64, 2);
  const Variable i = layers::fill_constant({1}, DType::int64, 0), sum = layers::fill_constant({1}, DType::int64, 0);
  const Variables ended = layers::while_loop([&](const Variables& now) { return layers::less_than(now[0], n); },
                                             [&](const Variables& now) {
                                               const Variable is_odd = layers::equal(layers::elementwise_mod(now[0], two), one);
                                               const Variable next = layers::cond(
                                                   is_odd, [&] { return Variables{layers::elementwise_add(now[1], now[0])}; },
                                                   [&] { return Variables{now[1]}; })[0];
                                               return Variables{layers::elementwise_add(now[0], one), next};
                                             },
                                             {i, sum});
  for (const int64_t rounds : {0, 1, 2, 10}) {
    const Feed feed = {{"n", {.tensor = at::full({1}, rounds, at::kLong)}}};
    EXPECT_EQ(run(feed, ended[1]).item<int64_t>(), (rounds / 2) * (rounds / 2)) << rounds << " rounds";
  }
}

// What a branch sets outside of itself keeps its value where the branch does not run.
TEST_F(LayerTest, AVariableKeepsItsValueWhereABlockDoesNotRun) {
  const Variable flag = data("flag", {1}, DType::boolean);
  const Variable kept = layers::fill_constant({1}, DType::float32, 1);
  const graph::Block* body = nullptr;
  {
    const layers::BlockGuard guard;
    body = &guard.block();
    layers::assign(layers::fill_constant({1}, DType::float32, 2), kept);
  }
  layers::run_if(flag, *body);
  for (const bool holds : {true, false}) {
    const Feed feed = {{"flag", {.tensor = at::full({1}, holds, at::kBool)}}};
    EXPECT_EQ(run(feed, kept).item<float>(), holds ? 2 : 1);
  }
}

TEST_F(LayerTest, AnArrayHoldsWhatWasWritten) {
  const Variable x = data("x", {2}, DType::float64);
  const Variable at0 = layers::fill_constant({1}, DType::int64, 0), at2 = layers::fill_constant({1}, DType::int64, 2);
  const Variable array = layers::array_write(x, at2);
  layers::array_write(layers::square(x), at0, array);
  const Variable out = layers::array_read(array, at0);
  const Variable length = layers::array_length(array);
  const Feed feed = {{"x", {.tensor = numbers({2, 3})}}};
  EXPECT_TRUE(at::equal(run(feed, out), numbers({4, 9})));
  EXPECT_EQ(run(feed, length).item<int64_t>(), 3);
  check_gradients(out, feed, {x});
  const Variable gap = layers::array_read(array, layers::fill_constant({1}, DType::int64, 1));
  EXPECT_NE(error_of(feed, gap).find("has no tensor at 1; it has 3 places"), std::string::npos) << error_of(feed, gap);
}

TEST_F(LayerTest, ALoopWithoutAnEndIsRefused) {
  const Variable goes_on = layers::fill_constant({1}, DType::boolean, 1);
  const graph::Block* body = nullptr;
  {
    const layers::BlockGuard guard;
    body = &guard.block();
    (void)layers::fill_constant({1}, DType::float32, 1);
  }
  EXPECT_THROW(layers::run_while(goes_on, *body), Error);
}

}  // namespace
}  // namespace argosy::engine
