#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "argosy/base/random.h"
#include "argosy/optim/array.h"
#include "argosy/optim/rule.h"

namespace argosy::optim {
namespace {

// Arrays of one float vector each: what the engine makes of tensors, as plainly as it can be said. One of one element is a
// number, which goes with every element of another.
class Numbers final : public ArrayValue {
 public:
  explicit Numbers(std::vector<float> values) : values_(std::move(values)) {}
  static Array of(std::vector<float> values) { return Array(std::make_shared<Numbers>(std::move(values))); }
  static const std::vector<float>& in(const Array& array) { return static_cast<const Numbers&>(array.value()).values_; }

  Pointer combine(Binary op, const ArrayValue& right) const override {
    const auto& other = static_cast<const Numbers&>(right).values_;
    const bool reversible = op == Binary::add || op == Binary::multiply;
    if (values_.size() == 1 && other.size() > 1 && reversible) return right.combine(op, *this);
    EXPECT_TRUE(other.size() == values_.size() || other.size() == 1) << "a number on the left of a difference or a quotient";
    return each([&](size_t i) { return calculated(op, values_[i], other[other.size() == 1 ? 0 : i]); });
  }
  Pointer combine(Binary op, float right) const override {
    return each([&](size_t i) { return calculated(op, values_[i], right); });
  }
  Pointer combine_reversed(float left, Binary op) const override {
    return each([&](size_t i) { return calculated(op, left, values_[i]); });
  }
  Pointer map(Unary op) const override {
    if (op == Unary::norm) {
      double sum = 0;
      for (const float value : values_) sum += static_cast<double>(value) * value;
      return std::make_shared<Numbers>(std::vector<float>(values_.size(), static_cast<float>(std::sqrt(sum))));
    }
    return each([&](size_t i) {
      return op == Unary::root ? std::sqrt(values_[i]) : op == Unary::absolute ? std::abs(values_[i]) : sign(values_[i]);
    });
  }
  Pointer power(float exponent) const override {
    return each([&](size_t i) { return std::pow(values_[i], exponent); });
  }
  Pointer mask_above(float limit, const ArrayValue& kept) const override {
    return each([&](size_t i) { return values_[i] > limit ? static_cast<const Numbers&>(kept).values_[i] : 0; });
  }

 private:
  static float calculated(Binary op, float a, float b) {
    switch (op) {
      case Binary::add: return a + b;
      case Binary::subtract: return a - b;
      case Binary::multiply: return a * b;
      case Binary::divide: return a / b;
      case Binary::larger: return a > b ? a : b;
      case Binary::ratio: return a > 0 && b > 0 ? a / b : 1;
    }
    return 0;
  }
  template <typename Function>
  Pointer each(Function function) const {
    std::vector<float> made(values_.size());
    for (size_t i = 0; i < made.size(); ++i) made[i] = function(i);
    return std::make_shared<Numbers>(std::move(made));
  }

  std::vector<float> values_;
};

TEST(Array, HasTheOperatorsOfANumberOnEitherSide) {
  const Array a = Numbers::of({4, 9}), b = Numbers::of({2, 3});
  EXPECT_EQ(Numbers::in(a - b), (std::vector<float>{2, 6}));
  EXPECT_EQ(Numbers::in(a / b), (std::vector<float>{2, 3}));
  EXPECT_EQ(Numbers::in(a - 1.0f), (std::vector<float>{3, 8}));
  EXPECT_EQ(Numbers::in(1.0f - a), (std::vector<float>{-3, -8})) << "the number is on the left";
  EXPECT_EQ(Numbers::in(36.0f / a), (std::vector<float>{9, 4}));
  Array sum = a;
  sum += b;
  sum -= Numbers::of({1, 1});
  EXPECT_EQ(Numbers::in(sum), (std::vector<float>{5, 11}));
  EXPECT_EQ(Numbers::in(a), (std::vector<float>{4, 9})) << "an operand stays: copies share it";
}

// Each function of a formula means the same for one element and for arrays.
TEST(Array, FunctionsMeanTheSameForOneElementAndForArrays) {
  const std::vector<float> values{-2, -0.0f, 0, 0.25f, 9};
  for (size_t i = 0; i < values.size(); ++i) {
    const Array x = Numbers::of(values);
    EXPECT_EQ(Numbers::in(absolute(x))[i], absolute(values[i]));
    EXPECT_EQ(Numbers::in(sign(x))[i], sign(values[i]));
    EXPECT_EQ(Numbers::in(root(absolute(x)))[i], root(absolute(values[i])));
    EXPECT_EQ(Numbers::in(power(absolute(x), 1.5f))[i], power(absolute(values[i]), 1.5f));
    EXPECT_EQ(Numbers::in(mask_above(x, 0.25f, x + 1.0f))[i], mask_above(values[i], 0.25f, values[i] + 1));
    for (const float other : {-1.0f, 0.0f, 3.0f}) {
      const Array y = Numbers::of(std::vector<float>(values.size(), other));
      EXPECT_EQ(Numbers::in(larger(x, y))[i], larger(values[i], other));
      EXPECT_EQ(Numbers::in(ratio(x, y))[i], ratio(values[i], other));
    }
  }
  EXPECT_EQ(sign(-0.0f), 0);
  EXPECT_EQ(mask_above(0.25f, 0.25f, 7), 0) << "above, not at";
  EXPECT_EQ(ratio(0, 5), 1);
  EXPECT_EQ(ratio(5, 0), 1);
}

struct Case {
  std::string rule;
  HyperParameters hyper_parameters;
};

// Every rule as it is, and with each of its switches on.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const RuleInfo& info : all_rules()) {
    all.push_back({std::string(info.op_type), {}});
    for (const HyperParameter& hyper : info.hyper_parameters) {
      if (hyper.kind != HyperParameter::boolean) continue;
      all.push_back({std::string(info.op_type), {{std::string(hyper.name), 1 - hyper.default_value}}});
    }
  }
  all.push_back({"ftrl", {{"lr_power", -0.75f}, {"l1", 0.1f}, {"l2", 0.2f}}});
  all.push_back({"rmsprop", {{"momentum", 0.5f}, {"centered", 1}}});
  return all;
}

// One parameter as spans and two as arrays, which take the same steps; of the last the rate and the scalar states are arrays too.
class Twins {
 public:
  Twins(const Rule& rule, std::vector<float> start)
      : rule_(rule), value_(start), array_(Numbers::of(start)), other_(array_), scalars_(rule.initial_scalars()) {
    for (const float scalar : scalars_) numbers_.push_back(Numbers::of({scalar}));
    for (const StateSlot& slot : rule.states()) {
      if (slot.shape != StateSlot::element) continue;
      states_.emplace_back(start.size(), slot.initial);
      arrays_.push_back(Numbers::of(states_.back()));
    }
    others_ = arrays_;
  }

  void train(const std::vector<float>& gradient) {
    const Step step = rule_.begin_step(0.05f, scalars_);
    std::vector<float*> pointers;
    for (auto& state : states_) pointers.push_back(state.data());
    rule_.apply(step, value_.data(), gradient.data(), pointers.data(), value_.size());
    rule_.apply(step, array_, Numbers::of(gradient), arrays_);
    rule_.step(Numbers::of({0.05f}), numbers_, other_, Numbers::of(gradient), others_);
  }

  void expect_equal() const {
    expect_near(value_, array_);
    expect_near(value_, other_);
    for (size_t k = 0; k < states_.size(); ++k) expect_near(states_[k], arrays_[k]);
    for (size_t k = 0; k < states_.size(); ++k) expect_near(states_[k], others_[k]);
    for (size_t k = 0; k < scalars_.size(); ++k) expect_near({scalars_[k]}, numbers_[k]);
  }

 private:
  static void expect_near(const std::vector<float>& spans, const Array& array) {
    const std::vector<float>& arrays = Numbers::in(array);
    ASSERT_EQ(spans.size(), arrays.size());
    for (size_t i = 0; i < spans.size(); ++i) {
      ASSERT_NEAR(spans[i], arrays[i], 1e-5 * std::max(1.0f, std::abs(spans[i]))) << i;
    }
  }

  const Rule& rule_;
  std::vector<float> value_;
  std::vector<std::vector<float>> states_;
  Array array_, other_;
  std::vector<Array> arrays_, others_, numbers_;
  std::vector<float> scalars_;
};

// "Updates whole arrays by the same formula": five steps on arrays end where five steps on spans do, also where gradients are 0.
TEST(RuleOnArrays, EndsWhereTheSameStepsOnSpansEnd) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.rule + (one.hyper_parameters.empty() ? "" : " with " + one.hyper_parameters.begin()->first));
    const auto rule = make_rule(one.rule, one.hyper_parameters);
    ASSERT_TRUE(rule.ok()) << rule.status().to_string();
    const size_t n = 2 + random.below(60);
    const auto numbers = [&] {
      std::vector<float> made(n);
      for (float& number : made) number = random.below(5) == 0 ? 0 : static_cast<float>(random.normal());
      return made;
    };
    Twins twins(**rule, numbers());
    for (int step = 0; step < 5; ++step) twins.train(numbers());
    twins.expect_equal();
  }
}

}  // namespace
}  // namespace argosy::optim
