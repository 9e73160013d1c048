#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include "argosy/base/random.h"
#include "argosy/optim/optimizer.h"
#include "argosy/optim/schedule.h"

// What the schedules and the optimizers promise in words, where schedule_test.cc compares numbers with the originals.
namespace argosy::optim {
namespace {

// "A learning rate without a default cannot be left out."
static_assert(!std::is_default_constructible_v<SGD> && !std::is_default_constructible_v<Momentum>);
static_assert(!std::is_default_constructible_v<Adagrad> && !std::is_default_constructible_v<RMSProp>);
static_assert(!std::is_default_constructible_v<Ftrl> && !std::is_default_constructible_v<Adadelta>);
static_assert(!std::is_default_constructible_v<lr::ExponentialDecay> && !std::is_default_constructible_v<lr::LinearWarmup>);
static_assert(std::is_default_constructible_v<Adam> && std::is_default_constructible_v<Lamb>);

TEST(Schedule, PiecewiseIsALookUp) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 100; ++round) {
    std::vector<int64_t> boundaries(random.below(6));
    for (int64_t& boundary : boundaries) boundary = static_cast<int64_t>(random.below(30));
    std::ranges::sort(boundaries);
    std::vector<double> values(boundaries.size() + 1);
    for (double& value : values) value = random.uniform();
    const LearningRate fluid = piecewise_decay(boundaries, values), paddle = lr::PiecewiseDecay{boundaries, values};
    for (int64_t step = 0; step < 32; ++step) {
      size_t piece = 0;
      while (piece < boundaries.size() && step >= boundaries[piece]) ++piece;
      ASSERT_EQ(fluid.value(step), static_cast<float>(values[piece])) << step;
      ASSERT_EQ(paddle.value(step), fluid.value(step));
    }
  }
}

// fluid's inner schedule goes on at the step where it would be without the warm-up; paddle's starts after it.
TEST(Schedule, AfterAWarmUpTheInnerOneGoesOnOrStarts) {
  const Schedule inner = exponential_decay(1, 1, 0.5);
  const LearningRate goes_on = linear_lr_warmup(inner, 3, 0, 0.9), starts = lr::LinearWarmup{inner, 3, 0, 0.9};
  for (int64_t step = 0; step < 3; ++step) {
    EXPECT_FLOAT_EQ(goes_on.value(step), 0.3f * static_cast<float>(step));
    EXPECT_EQ(starts.value(step), goes_on.value(step));
  }
  for (int64_t step = 3; step < 10; ++step) {
    EXPECT_EQ(goes_on.value(step), inner.value(step)) << step;
    EXPECT_EQ(starts.value(step), inner.value(step - 3)) << step;
  }
}

TEST(Schedule, NoamCountsFrom1AndPaddlesFrom0) {
  const LearningRate fluid = noam_decay(64, 10, 2), paddle = lr::NoamDecay{.d_model = 64, .warmup_steps = 10, .learning_rate = 2};
  EXPECT_EQ(paddle.value(0), 0);
  for (int64_t step = 0; step < 30; ++step) EXPECT_EQ(fluid.value(step), paddle.value(step + 1)) << step;
  for (int64_t step = 1; step < 30; ++step) {
    EXPECT_EQ(paddle.value(step) > paddle.value(step - 1), step <= 10) << "it rises for 10 steps: " << step;
  }
}

// With a staircase a rate stays for decay_steps steps, and is then where the smooth one is.
TEST(Schedule, AStaircaseMeetsTheSmoothScheduleAtItsSteps) {
  using Decay = Schedule (*)(double, int64_t, double, bool);
  for (const Decay decay : {Decay(exponential_decay), Decay(natural_exp_decay), Decay(inverse_time_decay)}) {
    const Schedule smooth = decay(0.5, 4, 0.75, false), stairs = decay(0.5, 4, 0.75, true);
    EXPECT_EQ(smooth.value(0), 0.5f);
    for (int64_t step = 0; step < 20; ++step) {
      EXPECT_EQ(stairs.value(step), smooth.value(step / 4 * 4)) << stairs.kind << " " << step;
      EXPECT_LE(smooth.value(step + 1), smooth.value(step));
    }
  }
}

TEST(Schedule, PolynomialEndsOrGoesRound) {
  const Schedule ends = polynomial_decay(1, 10, 0.25, 2), cycles = polynomial_decay(1, 10, 0.25, 2, true);
  EXPECT_EQ(ends.value(0), 1);
  for (const int64_t step : {10, 11, 1000}) EXPECT_EQ(ends.value(step), 0.25f) << step;
  EXPECT_EQ(cycles.value(0), 1);
  EXPECT_EQ(cycles.value(10), 0.25f);
  EXPECT_GT(cycles.value(11), 0.25f) << "the next period, twice as long";
  EXPECT_EQ(cycles.value(20), 0.25f);
}

TEST(Schedule, CosineFallsByEpochsAndMultiStepAtMilestones) {
  const Schedule cosine = cosine_decay(0.5, 5, 4);
  for (int64_t step = 0; step < 20; ++step) EXPECT_EQ(cosine.value(step), cosine.value(step / 5 * 5)) << step;
  EXPECT_EQ(cosine.value(0), 0.5f);
  EXPECT_NEAR(cosine.value(10), 0.25f, 1e-7);
  const LearningRate steps = lr::MultiStepDecay{.learning_rate = 1, .milestones = {3, 3, 8}, .gamma = 0.5};
  const std::vector<float> expected{1, 1, 1, 0.25f, 0.25f, 0.25f, 0.25f, 0.25f, 0.125f};
  for (size_t step = 0; step < expected.size(); ++step)
    EXPECT_EQ(steps.value(static_cast<int64_t>(step)), expected[step]) << step;
  EXPECT_FALSE(LearningRate(lr::MultiStepDecay{.learning_rate = 1, .milestones = {8, 3}}).to_schedule().check().ok());
}

// A schedule that was cut short, as in a damaged Program, is refused and never read beyond its numbers.
TEST(Schedule, OneNumberLessIsRefused) {
  const Schedule whole = linear_lr_warmup(polynomial_decay(1, 10), 5, 0, 1);
  ASSERT_TRUE(whole.check().ok());
  for (size_t i = 0; i < whole.floats.size(); ++i) {
    Schedule cut = whole;
    cut.floats.erase(cut.floats.begin() + static_cast<ptrdiff_t>(i));
    EXPECT_FALSE(cut.check().ok()) << "float " << i;
  }
  for (size_t i = 0; i < whole.ints.size(); ++i) {
    Schedule cut = whole;
    cut.ints.erase(cut.ints.begin() + static_cast<ptrdiff_t>(i));
    EXPECT_FALSE(cut.check().ok()) << "int " << i;
  }
}

// Each field reaches the hyper-parameter of its own name: no two of them are exchanged on the way.
TEST(Optimizer, EveryFieldBecomesTheHyperParameterOfItsName) {
  EXPECT_EQ(Optimizer(Momentum{.learning_rate = 1, .momentum = 0.25, .use_nesterov = true}).hyper_parameters,
            (HyperParameters{{"mu", 0.25f}, {"use_nesterov", 1}}));
  EXPECT_EQ(Optimizer(Adagrad{.learning_rate = 1, .epsilon = 0.5, .initial_accumulator_value = 0.25}).hyper_parameters,
            (HyperParameters{{"epsilon", 0.5f}, {"initial_accumulator_value", 0.25f}}));
  EXPECT_EQ(Optimizer(DecayedAdagrad{.learning_rate = 1, .decay = 0.5, .epsilon = 0.25}).hyper_parameters,
            (HyperParameters{{"decay", 0.5f}, {"epsilon", 0.25f}}));
  EXPECT_EQ(Optimizer(Adadelta{.learning_rate = 1, .epsilon = 0.5, .rho = 0.25}).hyper_parameters,
            (HyperParameters{{"epsilon", 0.5f}, {"rho", 0.25f}}));
  const HyperParameters moments{{"beta1", 0.5f}, {"beta2", 0.25f}, {"epsilon", 0.125f}};
  HyperParameters corrected = moments;
  corrected["corrected_epsilon"] = 1;
  EXPECT_EQ(Optimizer(Adam{.beta1 = 0.5, .beta2 = 0.25, .epsilon = 0.125, .corrected_epsilon = true}).hyper_parameters,
            corrected);
  EXPECT_EQ(Optimizer(Adamax{.beta1 = 0.5, .beta2 = 0.25, .epsilon = 0.125}).hyper_parameters, moments);
  EXPECT_EQ(Optimizer(Ftrl{.learning_rate = 1, .l1 = 0.5, .l2 = 0.25, .lr_power = -0.125}).hyper_parameters,
            (HyperParameters{{"l1", 0.5f}, {"l2", 0.25f}, {"lr_power", -0.125f}}));
  HyperParameters decayed = moments;
  decayed["coeff"] = 0.75f;
  EXPECT_EQ(Optimizer(AdamW{.beta1 = 0.5, .beta2 = 0.25, .epsilon = 0.125, .weight_decay = 0.75}).hyper_parameters, decayed);
  decayed = moments;
  decayed["weight_decay"] = 0.75f;
  EXPECT_EQ(Optimizer(Lamb{.lamb_weight_decay = 0.75, .beta1 = 0.5, .beta2 = 0.25, .epsilon = 0.125}).hyper_parameters, decayed);
}

// The filters of two optimizers say opposite things in fluid and mean the same here; without one every parameter has its decay.
TEST(Optimizer, WithoutAFilterEveryParameterHasItsDecay) {
  for (const Optimizer& optimizer : {Optimizer(Lamb{}), Optimizer(AdamW{}), Optimizer(Adam{})}) {
    EXPECT_EQ(optimizer.hyper_parameters_of("anything"), optimizer.hyper_parameters) << optimizer.rule;
  }
  Optimizer adam = Adam{};
  adam.has_weight_decay = [](std::string_view) { return false; };
  EXPECT_EQ(adam.hyper_parameters_of("w"), adam.hyper_parameters) << "a rule without decay has none to lose";
}

}  // namespace
}  // namespace argosy::optim
