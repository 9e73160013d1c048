// Arithmetic, reductions, products, comparisons: what they build and what it computes.
#include "argosy/engine/ops/case_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers.h"

namespace argosy::engine {
namespace {

namespace L = argosy::layers;
using Shape = std::vector<int64_t>;

class Math : public CaseTest {};

const std::vector<Case> kElementwise = {
    {.name = "add",
     .shapes = {{5, 4}, {5, 4}},
     .build = [](auto& in) { return L::elementwise_add(in[0], in[1]); },
     .expected = [](auto& in) { return in[0] + in[1]; },
     .out_name = "elementwise_add_0.tmp_0",
     .out_shape = {-1, 4}},
    {.name = "sub_along_an_axis",
     .shapes = {{2, 3, 4}, {3}},
     .build = [](auto& in) { return L::elementwise_sub(in[0], in[1], {.axis = 1}); },
     .expected = [](auto& in) { return in[0] - in[1].view({3, 1}); },
     .out_shape = {2, 3, 4},
     .fixed = true},
    {.name = "mul_then_tanh",
     .shapes = {{2, 3, 4}, {2, 3}},
     .build = [](auto& in) { return L::elementwise_mul(in[0], in[1], {.axis = 0, .act = "tanh"}); },
     .expected = [](auto& in) { return (in[0] * in[1].unsqueeze(-1)).tanh(); },
     .out_name = "elementwise_mul_0.tmp_1",
     .out_shape = {-1, 3, 4}},
    {.name = "div",
     .shapes = {{5, 4}, {5, 1}},
     .build = [](auto& in) { return L::elementwise_div(in[0], in[1], {.name = "mine"}); },
     .expected = [](auto& in) { return in[0] / in[1]; },
     .out_name = "mine.tmp_0",
     .low = 0.5,
     .high = 2},
    {.name = "max",
     .shapes = {{5, 4}, {5, 4}},
     .build = [](auto& in) { return L::elementwise_max(in[0], in[1]); },
     .expected = [](auto& in) { return at::maximum(in[0], in[1]); }},
    {.name = "min",
     .shapes = {{5, 4}, {5, 4}},
     .build = [](auto& in) { return L::elementwise_min(in[0], in[1]); },
     .expected = [](auto& in) { return at::minimum(in[0], in[1]); }},
    {.name = "pow",
     .shapes = {{5, 4}, {5, 4}},
     .build = [](auto& in) { return L::elementwise_pow(in[0], in[1]); },
     .expected = [](auto& in) { return (in[1] * in[0].log()).exp(); },
     .low = 0.2,
     .high = 2},
};

const std::vector<Case> kReductions = {
    {.name = "reduce_sum",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::reduce_sum(in[0]); },
     .expected = [](auto& in) { return in[0].sum().view({1}); },
     .out_name = "reduce_sum_0.tmp_0",
     .out_shape = {1}},
    {.name = "reduce_mean_of_an_axis",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::reduce_mean(in[0], {.dim = {1}}); },
     .expected = [](auto& in) { return in[0].sum(1) / 3; },
     .out_shape = {-1, 4}},
    {.name = "reduce_max_keeps_axes",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::reduce_max(in[0], {.dim = {1, -1}, .keep_dim = true}); },
     .expected = [](auto& in) { return in[0].amax({1, 2}, true); },
     .out_shape = {-1, 1, 1}},
    {.name = "reduce_min_of_the_rows",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::reduce_min(in[0], {.dim = {0}}); },
     .expected = [](auto& in) { return in[0].amin(0); },
     .out_shape = {3, 4}},
    {.name = "reduce_prod",
     .shapes = {{2, 3, 2}},
     .build = [](auto& in) { return L::reduce_prod(in[0], {.dim = {-1, 0}}); },
     .expected = [](auto& in) { return in[0].prod(2).prod(0); },
     .out_shape = {3},
     .low = 0.5,
     .high = 2},
    {.name = "mean",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::mean(in[0]); },
     .expected = [](auto& in) { return (in[0].sum() / 20).view({1}); },
     .out_name = "mean_0.tmp_0",
     .out_shape = {1}},
};

const std::vector<Case> kProducts = {
    {.name = "matmul",
     .shapes = {{2, 3, 4}, {2, 4, 5}},
     .build = [](auto& in) { return L::matmul(in[0], in[1]); },
     .expected = [](auto& in) { return at::einsum("bij,bjk->bik", {in[0], in[1]}); },
     .out_name = "matmul_0.tmp_0",
     .out_shape = {-1, 3, 5}},
    {.name = "matmul_transposed",
     .shapes = {{2, 3, 4}, {2, 5, 4}},
     .build = [](auto& in) { return L::matmul(in[0], in[1], {.transpose_y = true}); },
     .expected = [](auto& in) { return at::einsum("bij,bkj->bik", {in[0], in[1]}); },
     .out_shape = {-1, 3, 5}},
    {.name = "matmul_scaled",
     .shapes = {{5, 4}, {5, 3}},
     .build = [](auto& in) { return L::matmul(in[0], in[1], {.transpose_x = true, .alpha = 2.0f}); },
     .expected = [](auto& in) { return 2 * at::mm(in[0].t(), in[1]); },
     .out_shape = {4, 3},
     .fixed = true},
    {.name = "matmul_of_vectors",
     .shapes = {{4}, {4}},
     .build = [](auto& in) { return L::matmul(in[0], in[1]); },
     .expected = [](auto& in) { return (in[0] * in[1]).sum().view({1}); },
     .out_shape = {1},
     .fixed = true},
    {.name = "matmul_of_a_vector",
     .shapes = {{3, 4}, {4}},
     .build = [](auto& in) { return L::matmul(in[0], in[1]); },
     .expected = [](auto& in) { return at::mv(in[0], in[1]); },
     .out_shape = {3},
     .fixed = true},
    {.name = "mul_of_more_dimensions",
     .shapes = {{2, 3, 4}, {4, 3, 5}},
     .build = [](auto& in) { return L::mul(in[0], in[1], 1, 2); },
     .expected = [](auto& in) { return at::mm(in[0].reshape({2, 12}), in[1].reshape({12, 5})); },
     .out_name = "mul_0.tmp_0",
     .out_shape = {2, 5},
     .fixed = true},
    {.name = "bmm",
     .shapes = {{2, 3, 4}, {2, 4, 5}},
     .build = [](auto& in) { return L::bmm(in[0], in[1]); },
     .expected = [](auto& in) { return at::einsum("bij,bjk->bik", {in[0], in[1]}); },
     .out_shape = {-1, 3, 5}},
    {.name = "dot",
     .shapes = {{3, 4}, {3, 4}},
     .build = [](auto& in) { return L::dot(in[0], in[1]); },
     .expected = [](auto& in) { return (in[0] * in[1]).sum(-1, true); },
     .out_shape = {-1, 1}},
};

const std::vector<Case> kArithmetic = {
    {.name = "scale",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::scale(in[0], 2.0f, 1.0f); },
     .expected = [](auto& in) { return 2 * in[0] + 1; },
     .out_name = "scale_0.tmp_0"},
    {.name = "scale_after_the_bias",
     .shapes = {{5, 4}},
     .build =
         [](auto& in) { return L::scale(in[0], L::fill_constant({1}, kFloat64, 2.5), 1.0f, /*bias_after_scale=*/false, "tanh"); },
     .expected = [](auto& in) { return (2.5 * (in[0] + 1)).tanh(); },
     .out_name = "scale_0.tmp_1"},
    {.name = "clip",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::clip(in[0], -0.5f, 0.375f); },
     .expected = [](auto& in) { return in[0].clamp(-0.5, 0.375); },
     .out_name = "clip_0.tmp_0"},
    {.name = "clip_by_norm",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::clip_by_norm(in[0], 1.5f); },
     .expected = [](auto& in) { return in[0] * (1.5 / in[0].square().sum().sqrt()); }},
    {.name = "clip_by_norm_leaves_short_ones",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::clip_by_norm(in[0], 150.0f); },
     .expected = [](auto& in) { return in[0]; }},
    {.name = "l2_normalize",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::l2_normalize(in[0], 1, 0.5f); },
     .expected = [](auto& in) { return in[0] / (in[0].square().sum(1, true) + 0.5).sqrt(); },
     .out_name = "l2_normalize_0.tmp_0",
     .out_shape = {-1, 4}},
    {.name = "sum",
     .shapes = {{5, 4}, {5, 4}, {5, 4}},
     .build = [](auto& in) { return L::sum(in); },
     .expected = [](auto& in) { return in[0] + in[1] + in[2]; },
     .out_name = "sum_0.tmp_0",
     .out_shape = {-1, 4}},
    {.name = "cumsum",
     .shapes = {{2, 3, 4}},
     .build = [](auto& in) { return L::cumsum(in[0], 1); },
     .expected = [](auto& in) { return at::stack({in[0].select(1, 0), in[0].slice(1, 0, 2).sum(1), in[0].sum(1)}, 1); }},
    {.name = "cumsum_of_those_behind",
     .shapes = {{3, 3}},
     .build = [](auto& in) { return L::cumsum(in[0], -1, true, true); },
     .expected =
         [](auto& in) { return at::stack({in[0].slice(1, 1, 3).sum(1), in[0].select(1, 2), at::zeros({3}, at::kDouble)}, 1); }},
};

const std::vector<Case> kOperators = {
    {.name = "operators",
     .shapes = {{5, 4}, {5, 4}},
     .build = [](auto& in) { return (in[0] + in[1]) * in[0] - in[1] / in[0]; },
     .expected = [](auto& in) { return (in[0] + in[1]) * in[0] - in[1] / in[0]; },
     .out_name = "tmp_3",
     .low = 0.5,
     .high = 2},
    {.name = "operators_with_numbers",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return 1.5 - (-in[0] + 1.0) * 2.0 / 4.0 + 2.0 / in[0]; },
     .expected = [](auto& in) { return 1.5 - (-in[0] + 1) * 2 / 4 + 2 / in[0]; },
     .low = 0.5,
     .high = 2},
    {.name = "operators_power",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::operate("elementwise_pow", in[0], 2.0); },
     .expected = [](auto& in) { return in[0] * in[0]; },
     .out_name = "tmp_1"},
    {.name = "operators_power_of_a_number",
     .shapes = {{5, 4}},
     .build = [](auto& in) { return L::operate("elementwise_pow", in[0], 2.0, true); },
     .expected = [](auto& in) { return (in[0] * std::log(2.0)).exp(); }},
};

TEST_P(Math, IsItsFormula) { check(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Elementwise, Math, testing::ValuesIn(kElementwise), case_name);
INSTANTIATE_TEST_SUITE_P(Reductions, Math, testing::ValuesIn(kReductions), case_name);
INSTANTIATE_TEST_SUITE_P(Products, Math, testing::ValuesIn(kProducts), case_name);
INSTANTIATE_TEST_SUITE_P(Arithmetic, Math, testing::ValuesIn(kArithmetic), case_name);
INSTANTIATE_TEST_SUITE_P(Operators, Math, testing::ValuesIn(kOperators), case_name);

class MathFacts : public CaseTest {};

// Equal elements are common (zeros after relu). Paddle gives the gradient to all of them, or to y, and so do we.
TEST_F(MathFacts, TiesTakeGradientsAsInPaddle) {
  const Variable x = data("x", {-1}), y = data("y", {-1}), a = data("a", {-1}), b = data("b", {-1}), c = data("c", {-1});
  Feed feed;
  for (const char* left : {"x", "a", "c"}) feed[left].tensor = doubles({3, 1, 3});
  for (const char* right : {"y", "b"}) feed[right].tensor = doubles({3, 2, 1});
  const auto of_max = graph::gradients({L::elementwise_max(x, y)}, {x, y}),
             of_min = graph::gradients({L::elementwise_min(a, b)}, {a, b});
  EXPECT_TRUE(at::equal(run(feed, of_max[0]), doubles({0, 0, 1})));
  EXPECT_TRUE(at::equal(run(feed, of_max[1]), doubles({1, 1, 0})));
  EXPECT_TRUE(at::equal(run(feed, of_min[0]), doubles({0, 1, 0})));
  EXPECT_TRUE(at::equal(run(feed, of_min[1]), doubles({1, 0, 1})));
  EXPECT_TRUE(at::equal(run(feed, graph::gradients({L::reduce_max(c)}, {c})[0]), doubles({1, 0, 1})));
}

TEST_F(MathFacts, WholeNumbersStayWhole) {
  const Variable i = data("i", {-1}, DType::int64), j = data("j", {-1}, DType::int64);
  const Feed feed = {{"i", {.tensor = longs({7, 50, 12})}}, {"j", {.tensor = longs({3, 7, 4})}}};
  EXPECT_TRUE(at::equal(run(feed, L::elementwise_mod(i, j)), longs({1, 1, 0})));
  EXPECT_TRUE(at::equal(run(feed, L::elementwise_floordiv(i, j)), longs({2, 7, 3})));
  EXPECT_TRUE(at::equal(run(feed, i / 2.0), longs({3, 25, 6})));
  EXPECT_TRUE(at::equal(run(feed, L::scale(i, 2.5f, 1.7f)), longs({15, 101, 25})));
  EXPECT_TRUE(at::equal(run(feed, L::reduce_mean(i)), longs({23})));
  EXPECT_THROW(i * 2.5, Error);
}

TEST_F(MathFacts, ComparisonsAndLogic) {
  const Variable x = data("x", {-1}), y = data("y", {-1});
  const Feed feed = {{"x", {.tensor = doubles({1, 2, 3})}}, {"y", {.tensor = doubles({2, 2, 2})}}};
  const auto truths = [&](const Variable& v) {
    const at::Tensor found = run(feed, v);
    check_declared(v, found);
    std::string text;
    for (int64_t i = 0; i < found.numel(); ++i) text += found[i].item<bool>() ? 'T' : 'F';
    return text;
  };
  const Variable less = L::less_than(x, y), more = L::greater_than(x, y);
  EXPECT_EQ(less.name(), "less_than_0.tmp_0");
  EXPECT_TRUE(less.stop_gradient());
  EXPECT_EQ(truths(less), "TFF");
  EXPECT_EQ(truths(more), "FFT");
  EXPECT_EQ(truths(L::less_equal(x, y)), "TTF");
  EXPECT_EQ(truths(L::greater_equal(x, y)), "FTT");
  EXPECT_EQ(truths(L::equal(x, y)), "FTF");
  EXPECT_EQ(truths(L::not_equal(x, y, L::create_tensor(kBool, "told"))), "TFT");
  EXPECT_EQ(truths(x < y), "TFF");
  EXPECT_EQ(truths(L::logical_or(less, more)), "TFT");
  EXPECT_EQ(truths(L::logical_and(less, more)), "FFF");
  EXPECT_EQ(truths(L::logical_xor(less, L::logical_not(more))), "FTF");
  EXPECT_EQ(truths(L::reduce_any(less)), "T");
  EXPECT_EQ(truths(L::reduce_all(less, {.dim = {0}, .keep_dim = true})), "F");
}

TEST_F(MathFacts, SoundnessOfAWholeTensor) {
  const Variable x = data("x", {-1});
  const Variable finite = L::isfinite(x), infinite = L::has_inf(x), nan = L::has_nan(x);
  EXPECT_EQ(infinite.name(), "isinf_0.tmp_0");
  const auto told = [&](double value) {
    const auto found = run({{"x", {.tensor = doubles({1, value})}}}, std::vector<Variable>{finite, infinite, nan});
    return std::vector<bool>{found[0].tensor.item<bool>(), found[1].tensor.item<bool>(), found[2].tensor.item<bool>()};
  };
  EXPECT_EQ(told(2), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(told(INFINITY), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(told(NAN), (std::vector<bool>{false, false, true}));
}

// A counter is one number in the scope that every run moves; not a new one each time.
TEST_F(MathFacts, ACounterCountsRuns) {
  const Variable counter = L::autoincreased_step_counter("steps", 5, 2);
  EXPECT_EQ(L::autoincreased_step_counter("steps").name(), counter.name());
  const Variable copy = L::assign(counter), next = L::increment(counter, 1.0f, /*in_place=*/false);
  start();
  const void* place = stored("steps").data_ptr();
  for (int64_t run_number = 0; run_number < 3; ++run_number) {
    const auto found = run({}, std::vector<Variable>{copy, next});
    EXPECT_EQ(found[0].tensor.item<int64_t>(), 6 + 2 * run_number);
    EXPECT_EQ(found[1].tensor.item<int64_t>(), 7 + 2 * run_number);
  }
  if (test_device().is_cpu()) EXPECT_EQ(stored("steps").data_ptr(), place);
}

TEST_F(MathFacts, WhatDoesNotFitIsNamed) {
  const auto message = [](auto call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  const Variable x = data("x", {-1, 4}), y = data("y", {3, 5});
  EXPECT_EQ(message([&] { L::matmul(x, y); }),
            "operator 'matmul': variable 'x' [-1, 4] and variable 'y' [3, 5] cannot be multiplied: 4 columns against 3 rows");
  EXPECT_EQ(message([&] { L::reduce_sum(x, {.dim = {2}}); }),
            "operator 'reduce_sum': axis 2 is outside variable 'x' [-1, 4], which has 2 dimensions");
  EXPECT_EQ(message([&] { L::sum({x, y}); }), "operator 'sum': variable 'y' [3, 5] cannot be added to variable 'x' [3, 4]");
  EXPECT_EQ(message([&] { L::increment(x); }), "operator 'increment': variable 'x' has shape [-1, 4], expected one element");
  EXPECT_NE(message([&] { L::elementwise_add(x, x, {.act = "rel"}); }).find("did you mean 'relu'"), std::string::npos);
}

}  // namespace
}  // namespace argosy::engine
