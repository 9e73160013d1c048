#include "argosy/optim/rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "argosy/base/random.h"
#include "argosy/optim/goldens/rule_goldens.h"

namespace argosy::optim {
namespace {

constexpr size_t kElements = 6;

std::vector<float> golden_gradient(int t) {
  const auto step = static_cast<float>(t);
  return {0.1f * (step + 1), -0.2f + 0.15f * step, t < 2 ? 0.0f : 0.3f, 1.5f - step, 0.001f * (step - 2), -2.0f};
}

// A parameter with its states, as a caller of Rule keeps them.
struct Parameter {
  Parameter(const Rule& rule, std::vector<float> values) : value(std::move(values)), scalars(rule.initial_scalars()) {
    for (const StateSlot& slot : rule.states()) {
      if (slot.shape == StateSlot::element) states.emplace_back(value.size(), slot.initial);
    }
  }

  std::vector<float*> pointers(size_t offset = 0) {
    std::vector<float*> list;
    for (auto& state : states) list.push_back(state.data() + offset);
    return list;
  }

  friend bool operator==(const Parameter&, const Parameter&) = default;

  std::vector<float> value;
  std::vector<std::vector<float>> states;
  std::vector<float> scalars;
};

void train(const Rule& rule, Parameter& parameter, float rate, const std::vector<float>& grad) {
  const Step step = rule.begin_step(rate, parameter.scalars);
  rule.apply(step, parameter.value.data(), grad.data(), parameter.pointers().data(), parameter.value.size());
}

void expect_near(float found, float expected) { EXPECT_NEAR(found, expected, 1e-6 * std::max(1.0f, std::abs(expected))); }

void expect_states(const Rule& rule, const Parameter& parameter, const RuleGolden& golden) {
  size_t element = 0, scalar = 0;
  for (const StateSlot& slot : rule.states()) {
    ASSERT_TRUE(golden.states.contains(std::string(slot.suffix))) << slot.suffix;
    const auto& expected = golden.states.at(std::string(slot.suffix));
    if (slot.shape == StateSlot::scalar) {
      expect_near(parameter.scalars[scalar++], expected[0]);
    } else {
      for (size_t i = 0; i < kElements; ++i) expect_near(parameter.states[element][i], expected[i]);
      ++element;
    }
  }
  EXPECT_EQ(rule.states().size(), golden.states.size());
}

class RuleGoldens : public testing::TestWithParam<RuleGolden> {};

// Five steps from the same start give what the original gives, in the parameter and in every accumulator.
TEST_P(RuleGoldens, AgreesWithTheOriginal) {
  const RuleGolden& golden = GetParam();
  auto rule = make_rule(golden.op_type, golden.hyper_parameters);
  ASSERT_TRUE(rule.ok()) << rule.status().to_string();
  Parameter parameter(**rule, {0.5f, -1.25f, 0.0f, 2.0f, -0.03125f, 0.75f});
  for (int t = 0; t < 5; ++t) {
    train(**rule, parameter, golden.learning_rate, golden_gradient(t));
    SCOPED_TRACE(t);
    for (size_t i = 0; i < kElements; ++i) expect_near(parameter.value[i], golden.params[t][i]);
  }
  if (!golden.states.empty()) expect_states(**rule, parameter, golden);
}

INSTANTIATE_TEST_SUITE_P(All, RuleGoldens, testing::ValuesIn(kRuleGoldens), [](const auto& info) {
  return info.param.source + "_" + info.param.op_type + std::to_string(info.index);
});

// Paddle 2 multiplies Adadelta's step by the learning rate, which 1.8 has no use for.
TEST(Adadelta, UsesTheLearningRateWhereItIsTold) {
  const auto plain = *make_rule("adadelta"), scaled = *make_rule("adadelta", {{"use_learning_rate", 1}});
  EXPECT_FALSE(plain->uses_learning_rate());
  EXPECT_TRUE(scaled->uses_learning_rate());
  EXPECT_TRUE((*make_rule("sgd"))->uses_learning_rate());
  const std::vector<float> start(kElements, 0.0f);
  Parameter whole(*plain, start), half(*scaled, start);
  for (int t = 0; t < 3; ++t) {
    train(*plain, whole, 0.5f, golden_gradient(t));
    train(*scaled, half, 0.5f, golden_gradient(t));
    for (size_t i = 0; i < kElements; ++i) expect_near(half.value[i], 0.5f * whole.value[i]);
  }
  EXPECT_EQ(whole.states, half.states);
}

// Paddle 2 adds epsilon to the corrected root, and 1.8 to the root as it is: with small gradients the steps are others.
TEST(Adam, AddsEpsilonToTheCorrectedRootWhereItIsTold) {
  const HyperParameters two{{"corrected_epsilon", 1}};
  const auto plain = *make_rule("adam"), corrected = *make_rule("adam", two), adamw = *make_rule("adamw", {{"with_decay", 0}});
  const std::vector<float> start(kElements, 1.0f), small(kElements, 1e-8f);
  Parameter first(*plain, start), second(*corrected, start), torch(*adamw, start);
  for (int t = 0; t < 3; ++t) {
    train(*plain, first, 0.1f, small);
    train(*corrected, second, 0.1f, small);
    train(*adamw, torch, 0.1f, small);
  }
  EXPECT_EQ(second, torch);
  EXPECT_NEAR(second.value[0], 1 - 3 * 0.05f, 1e-3) << "half the rate: the gradient is as large as epsilon";
  EXPECT_GT(first.value[0], 0.95f);
}

// With equal gradients the corrected moments are the gradient and its square from the first step on, as Paddle 2 has it.
TEST(Lamb, CorrectsTheMomentsWhereItIsTold) {
  const auto rule = *make_rule("lamb", {{"bias_correction", 1}, {"weight_decay", 0}, {"epsilon", 0}});
  Parameter parameter(*rule, {3.0f, 4.0f});
  for (int t = 1; t <= 4; ++t) {
    const std::vector<float> before = parameter.value;
    train(*rule, parameter, 0.1f, {2.0f, -5.0f});
    EXPECT_NEAR(parameter.scalars[0], std::pow(0.9f, static_cast<float>(t + 1)), 1e-6);
    // The direction is (1, -1): the step has the length of the parameter times the rate.
    const float step = 0.1f * std::hypot(before[0], before[1]) / std::sqrt(2.0f);
    EXPECT_NEAR(parameter.value[0], before[0] - step, 1e-4);
    EXPECT_NEAR(parameter.value[1], before[1] + step, 1e-4);
  }
}

// The rate of a step is the share that the norms give; without weight decay, and where a norm is 0, it is the rate as given.
TEST(Lars, ScalesTheRateToTheNorms) {
  const auto rule =
      *make_rule("lars_momentum", {{"mu", 0.5f}, {"lars_coeff", 0.1f}, {"lars_weight_decay", 0.2f}, {"epsilon", 1}});
  Parameter parameter(*rule, {3.0f, 4.0f});  // its norm is 5, the gradient's 10
  train(*rule, parameter, 0.3f, {6.0f, -8.0f});
  const float share = 0.1f * 5 / (10 + 0.2f * 5 + 1);
  EXPECT_NEAR(parameter.states[0][0], 0.3f * share * (6 + 0.2f * 3), 1e-6);
  EXPECT_NEAR(parameter.value[1], 4 - 0.3f * share * (-8 + 0.2f * 4), 1e-6);

  Parameter still(*rule, {3.0f, 4.0f}), zero(*rule, {0.0f, 0.0f});
  train(*rule, still, 0.3f, {0.0f, 0.0f});
  EXPECT_NEAR(still.value[0], 3 - 0.3f * 0.2f * 3, 1e-6);
  train(*rule, zero, 0.3f, {1.0f, 2.0f});
  EXPECT_NEAR(zero.value[1], -0.3f * 2, 1e-6);

  const auto plain = *make_rule("lars_momentum", {{"lars_weight_decay", 0}}), momentum = *make_rule("momentum");
  Parameter left(*plain, {3.0f, 4.0f}), right(*momentum, {3.0f, 4.0f});
  for (int t = 0; t < 3; ++t) {
    train(*plain, left, 0.1f, {1.0f, -2.0f});
    train(*momentum, right, 0.1f, {1.0f, -2.0f});
    for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(left.value[i], right.value[i], 1e-6);
  }
}

class EachRule : public testing::TestWithParam<std::string> {};

std::vector<float> random_values(Random& random, size_t n) {
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(random.normal());
  return values;
}

// However a parameter is cut into calls, the bits are the same: a server that has half of it agrees with one that has all.
TEST_P(EachRule, CuttingAParameterChangesNoBit) {
  auto rule = *make_rule(GetParam());
  if (!rule->info().elementwise) return;  // lamb's ratio belongs to the whole; its rows are tested below
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const size_t n = 1 + random.below(300);
  Parameter whole(*rule, random_values(random, n));
  Parameter cut = whole;
  for (int t = 0; t < 4; ++t) {
    const auto grad = random_values(random, n);
    train(*rule, whole, 0.05f, grad);
    const Step step = rule->begin_step(0.05f, cut.scalars);
    for (size_t at = 0; at < n;) {
      const size_t length = std::min<size_t>(n - at, 1 + random.below(40));
      rule->apply(step, cut.value.data() + at, grad.data() + at, cut.pointers(at).data(), length);
      at += length;
    }
  }
  EXPECT_TRUE(whole == cut);
}

// Rows by index, in arrays of their own or interleaved with their state, equal one apply() a row; other rows stay.
TEST_P(EachRule, RowsEqualOneCallARow) {
  auto rule = *make_rule(GetParam());
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const size_t width = 1 + random.below(90), rows = 100, states = rule->element_states();
  Parameter single(*rule, random_values(random, rows * width));
  Parameter batch = single;

  const size_t stride = width * (1 + states) + random.below(3);
  std::vector<float> slab(rows * stride);
  for (size_t i = 0; i < rows * width; ++i) {
    slab[i / width * stride + i % width] = single.value[i];
    for (size_t k = 0; k < states; ++k) slab[i / width * stride + (k + 1) * width + i % width] = single.states[k][i];
  }
  std::vector<float*> slab_states;
  for (size_t k = 0; k < states; ++k) slab_states.push_back(slab.data() + (k + 1) * width);

  for (int t = 0; t < 3; ++t) {
    std::vector<int64_t> index(rows);
    std::iota(index.begin(), index.end(), 0);
    std::shuffle(index.begin(), index.end(), random);
    index.resize(1 + random.below(rows));
    const auto grad = random_values(random, index.size() * width);
    const Step step = rule->begin_step(0.05f, single.scalars);
    for (size_t i = 0; i < index.size(); ++i) {
      const size_t at = static_cast<size_t>(index[i]) * width;
      rule->apply(step, single.value.data() + at, grad.data() + i * width, single.pointers(at).data(), width);
    }
    const auto pointers = batch.pointers();
    rule->begin_step(0.05f, batch.scalars);
    rule->apply_rows(step, {batch.value.data(), pointers.data(), width, width, index, grad.data()});
    rule->apply_rows(step, {slab.data(), slab_states.data(), width, stride, index, grad.data()});
  }
  EXPECT_TRUE(single == batch);
  for (size_t i = 0; i < rows * width; ++i) ASSERT_EQ(slab[i / width * stride + i % width], single.value[i]) << i;
}

// Nothing to do is nothing done, and no pointer is looked at.
TEST_P(EachRule, AcceptsNothing) {
  auto rule = *make_rule(GetParam());
  auto scalars = rule->initial_scalars();
  const Step step = rule->begin_step(0.1f, scalars);
  const std::vector<float*> none(rule->element_states(), nullptr);
  rule->apply(step, nullptr, nullptr, none.data(), 0);
  rule->apply_rows(step, {nullptr, none.data(), 4, 4, {}, nullptr});
}

// What graph makes ops and variables from: names are there and unique, initial values refer to something.
TEST_P(EachRule, DescribesItself) {
  const RuleInfo& info = **find_rule(GetParam());
  std::set<std::string_view> seen, suffixes;
  for (const HyperParameter& hyper : info.hyper_parameters) EXPECT_TRUE(seen.insert(hyper.name).second) << hyper.name;
  for (const StateSlot& slot : info.states) {
    EXPECT_TRUE(seen.insert(slot.op_slot).second) << slot.op_slot;
    EXPECT_TRUE(slot.op_output.empty() || seen.insert(slot.op_output).second) << slot.op_output;
    EXPECT_TRUE(suffixes.insert(slot.suffix).second) << slot.suffix;
  }
  EXPECT_LE((*make_rule(GetParam()))->element_states(), kMaxElementStates);
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const RuleInfo& info : all_rules()) names.emplace_back(info.op_type);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, EachRule, testing::ValuesIn(rule_names()), [](const auto& info) { return info.param; });

TEST(RunningMean, KeepsAPartAndTakesTheRestWhateverTheRate) {
  const auto rule = *make_rule(kRunningMean, {{"momentum", 0.75f}});
  EXPECT_FALSE(rule->uses_learning_rate());
  std::vector<float> running{4, -8};
  const std::vector<float> batch{8, 8};
  rule->apply(rule->begin_step(123, {}), running.data(), batch.data(), nullptr, 2);
  EXPECT_EQ(running, (std::vector<float>{5, -4}));
}

TEST(MakeRule, UnknownNamesAreAnsweredWithTheNearest) {
  EXPECT_EQ(make_rule("adan").status().message(), "no update rule is named 'adan'; did you mean 'adam'?");
  EXPECT_EQ(make_rule("adam", {{"beta_1", 0.9f}}).status().message(),
            "update rule 'adam' has no hyper-parameter 'beta_1'; did you mean 'beta1'?");
  EXPECT_EQ(make_rule("sgd", {{"mu", 0.9f}}).status().message(), "update rule 'sgd' has no hyper-parameter 'mu'; it has none");
  EXPECT_EQ(make_rule("conjugate").status().code(), Code::not_found);
}

TEST(MakeRule, RefusesValuesThatWouldSpoilEveryParameter) {
  EXPECT_EQ(make_rule("adam", {{"epsilon", std::numeric_limits<float>::quiet_NaN()}}).status().message(),
            "update rule 'adam': epsilon is nan; expected a finite number");
  EXPECT_EQ(make_rule("momentum", {{"use_nesterov", 0.5f}}).status().message(),
            "update rule 'momentum': use_nesterov is 0.5; expected 0 or 1");
}

TEST(MakeRule, InitialStateFollowsTheHyperParameters) {
  const auto adam = *make_rule("adam", {{"beta1", 0.5f}});
  EXPECT_EQ(adam->initial_scalars(), (std::vector<float>{0.5f, 0.999f}));
  const auto adagrad = *make_rule("adagrad", {{"initial_accumulator_value", 0.25f}});
  EXPECT_EQ(adagrad->states()[0].initial, 0.25f);
}

}  // namespace
}  // namespace argosy::optim
