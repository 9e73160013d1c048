#include "argosy/engine/ops/tensor_rule.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "argosy/engine/ops/one_kernel.h"

namespace argosy::engine {
namespace {

TensorUpdate random_update(const optim::Rule& rule, at::ScalarType type) {
  TensorUpdate update{.states = std::vector<std::vector<at::Tensor>>(rule.element_states())};
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{3, 5}, {40000}, {}}) {
    update.param.push_back(at::randn(shape, type));
    update.grad.push_back(at::randn(shape, type));
    size_t k = 0;
    for (const optim::StateSlot& slot : rule.states()) {
      if (slot.shape == optim::StateSlot::element) update.states[k++].push_back(at::full(shape, slot.initial, type));
    }
  }
  return update;
}

std::vector<at::Tensor> clones_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> made;
  for (const at::Tensor& tensor : tensors) made.push_back(tensor.clone());
  return made;
}

TensorUpdate copy_of_update(const TensorUpdate& update) {
  TensorUpdate copy{.param = clones_of(update.param), .grad = clones_of(update.grad)};
  for (const auto& list : update.states) copy.states.push_back(clones_of(list));
  return copy;
}

void expect_all_close(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& expected) {
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(at::allclose(found[i].to(at::kFloat), expected[i].to(at::kFloat), 1e-4, 1e-5)) << "tensor " << i;
}

struct RuleCase {
  std::string rule;
  optim::HyperParameters hyper;
};

class TensorRule : public testing::TestWithParam<RuleCase> {};

// One formula, two ways to compute it: element by element over spans, and on lists of tensors, in float32 and in float64.
TEST_P(TensorRule, ListsMoveAsSpansDo) {
  const auto rule = *optim::make_rule(GetParam().rule, GetParam().hyper);
  at::manual_seed(5);
  TensorUpdate spans = random_update(*rule, at::kFloat), lists = copy_of_update(spans), wide = copy_of_update(spans);
  for (auto* list : {&wide.param, &wide.grad})
    for (at::Tensor& tensor : *list) tensor = tensor.to(at::kDouble);
  for (auto& list : wide.states)
    for (at::Tensor& tensor : list) tensor = tensor.to(at::kDouble);
  std::vector<float> of_spans = rule->initial_scalars(), of_lists = of_spans, of_wide = of_spans;
  const at::Tensor before = spans.param[0].clone();
  for (int t = 0; t < 4; ++t) {
    ASSERT_TRUE(step_tensors(*rule, 0.05f, of_spans, spans).ok());
    ASSERT_TRUE(step_tensor_lists(*rule, 0.05f, of_lists, lists).ok());
    ASSERT_TRUE(step_tensors(*rule, 0.05f, of_wide, wide).ok());
  }
  EXPECT_FALSE(at::allclose(spans.param[0], before));
  EXPECT_EQ(of_spans, of_lists);
  EXPECT_EQ(of_spans, of_wide);
  expect_all_close(lists.param, spans.param);
  expect_all_close(wide.param, spans.param);
  for (size_t k = 0; k < spans.states.size(); ++k) expect_all_close(lists.states[k], spans.states[k]);
}

// Torch's kernels for whole lists compute the same formula, with epsilon corrected or not, and with a decay.
TEST_P(TensorRule, OneKernelMovesAsTheFormulaDoes) {
  const auto rule = *optim::make_rule(GetParam().rule, GetParam().hyper);
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    at::manual_seed(6);
    TensorUpdate formula = random_update(*rule, type), kernel = copy_of_update(formula);
    std::vector<float> scalars = rule->initial_scalars();
    for (int t = 0; t < 4; ++t) {
      const optim::Step step = rule->begin_step(0.05f, scalars);
      move_by_formula(*rule, step, formula);
      const bool moved = moved_by_one_kernel(*rule, step, kernel);
      ASSERT_EQ(moved, GetParam().rule == "adam" || GetParam().rule == "adamw");
      if (!moved) return;
    }
    expect_all_close(kernel.param, formula.param);
    for (size_t k = 0; k < formula.states.size(); ++k) expect_all_close(kernel.states[k], formula.states[k]);
  }
}

// Whatever the kernel does not take is left alone, and move_tensor_lists() goes by the formula.
TEST(TensorRuleErrors, WhatDoesNotLieAsItsParameterIsNotForOneKernel) {
  const auto rule = *optim::make_rule("adam");
  const TensorUpdate plain{{at::ones({2, 3})}, {at::ones({2, 3})}, {{at::zeros({2, 3})}, {at::zeros({2, 3})}}};
  const auto refuses = [&](TensorUpdate update) {
    std::vector<float> scalars = rule->initial_scalars();
    const optim::Step step = rule->begin_step(0.5f, scalars);
    const at::Tensor before = update.param[0].clone();
    const bool moved = moved_by_one_kernel(*rule, step, update);
    EXPECT_EQ(moved, !at::equal(update.param[0], before));
    if (!moved) move_tensor_lists(*rule, step, update);
    EXPECT_NEAR(update.param[0].min().item<double>(), 0.5, 1e-3);
    return !moved;
  };
  TensorUpdate turned = copy_of_update(plain), narrow = copy_of_update(plain), mixed = copy_of_update(plain);
  turned.grad[0] = at::ones({3, 2}).t();
  narrow.grad[0] = narrow.grad[0].to(at::kBFloat16);
  mixed.states[0][0] = mixed.states[0][0].to(at::kDouble);
  EXPECT_FALSE(refuses(copy_of_update(plain)));
  EXPECT_TRUE(refuses(turned));
  EXPECT_TRUE(refuses(narrow));
  EXPECT_TRUE(refuses(mixed));
}

std::vector<RuleCase> rule_cases() {
  std::vector<RuleCase> all;
  for (const optim::RuleInfo& info : optim::all_rules()) all.push_back({std::string(info.op_type), {}});
  all.push_back({"momentum", {{"use_nesterov", 1}}});
  all.push_back({"rmsprop", {{"centered", 1}, {"momentum", 0.5f}}});
  all.push_back({"ftrl", {{"l1", 0.1f}, {"l2", 0.1f}}});
  all.push_back({"ftrl", {{"l1", 0.1f}, {"lr_power", -0.4f}}});
  all.push_back({"adadelta", {{"use_learning_rate", 1}}});
  all.push_back({"adam", {{"corrected_epsilon", 1}, {"epsilon", 0.1f}}});
  all.push_back({"adam", {{"epsilon", 0.1f}}});
  all.push_back({"adamw", {{"with_decay", 0}}});
  all.push_back({"adamw", {{"coeff", 0.5f}, {"epsilon", 0.1f}}});
  all.push_back({"lamb", {{"bias_correction", 1}}});
  all.push_back({"lars_momentum", {{"lars_weight_decay", 0}}});
  all.push_back({"lamb", {{"weight_decay", 0}, {"always_adapt", 0}}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, TensorRule, testing::ValuesIn(rule_cases()),
                         [](const auto& info) { return info.param.rule + std::to_string(info.index); });

// Without weight decay and without always_adapt the rate is as given: the first corrected step is the sign of the gradient.
TEST(TensorLamb, TakesTheRateAsGivenWithoutDecay) {
  const auto rule = *optim::make_rule("lamb", {{"bias_correction", 1}, {"weight_decay", 0}, {"always_adapt", 0}, {"epsilon", 0}});
  TensorUpdate update{.param = {at::full({2}, 3.0f)}, .grad = {at::full({2}, 2.0f)}};
  update.states = {{at::zeros({2})}, {at::zeros({2})}};
  auto scalars = rule->initial_scalars();
  ASSERT_TRUE(step_tensors(*rule, 0.5f, scalars, update).ok());
  EXPECT_NEAR(update.param[0][0].item<float>(), 2.5f, 1e-5);
}

TEST(TensorRuleErrors, NameWhatDoesNotFit) {
  const auto rule = *optim::make_rule("momentum");
  TensorUpdate update{.param = {at::zeros({2})}, .grad = {at::zeros({3})}, .states = {{at::zeros({2})}}};
  EXPECT_EQ(step_tensors(*rule, 0.1f, {}, update).message(),
            "gradient 0 has 3 elements, its parameter 2; expected the same shape");
  update.states.clear();
  EXPECT_EQ(step_tensors(*rule, 0.1f, {}, update).message(),
            "update rule 'momentum' has 1 states of the parameter's shape, 0 were given");
}

}  // namespace
}  // namespace argosy::engine
