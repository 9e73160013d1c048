#include "argosy/optim/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace argosy::optim {
namespace {

// An optimizer that is written with its learning rate alone has the defaults of its rule, which rule_test.cc compares with the
// original's, and names only hyper-parameters that the rule has.
TEST(Optimizer, DefaultsAreTheRules) {
  const std::vector<Optimizer> all = {SGD{.learning_rate = 0.1},
                                      Momentum{.learning_rate = 0.1, .momentum = 0.9},
                                      LarsMomentum{.learning_rate = 0.1, .momentum = 0.9},
                                      Adagrad{.learning_rate = 0.1},
                                      DecayedAdagrad{.learning_rate = 0.1},
                                      Adadelta{.learning_rate = 0.1},
                                      Adam{},
                                      AdamW{},
                                      Adamax{},
                                      RMSProp{.learning_rate = 0.1},
                                      Ftrl{.learning_rate = 0.1},
                                      Lamb{}};
  EXPECT_EQ(all.size() + 1, all_rules().size()) << "running_mean is no optimizer's";
  for (const Optimizer& optimizer : all) {
    ASSERT_TRUE(optimizer.check().ok()) << optimizer.rule << optimizer.check().to_string();
    for (const HyperParameter& known : (*find_rule(optimizer.rule))->hyper_parameters) {
      const auto given = optimizer.hyper_parameters.find(known.name);
      if (given != optimizer.hyper_parameters.end()) {
        EXPECT_EQ(given->second, known.default_value) << optimizer.rule << known.name;
      }
    }
  }
}

TEST(Optimizer, CarriesWhatTheUserWrote) {
  const Optimizer optimizer = RMSProp{.learning_rate = exponential_decay(1.0, 10, 0.5),
                                      .rho = 0.8,
                                      .momentum = 0.7,
                                      .centered = true,
                                      .regularization = L2Decay{1e-4},
                                      .grad_clip = GradientClipByGlobalNorm{.clip_norm = 5}};
  EXPECT_EQ(optimizer.rule, "rmsprop");
  EXPECT_EQ(optimizer.hyper_parameters,
            (HyperParameters{{"centered", 1}, {"decay", 0.8f}, {"epsilon", 1e-6f}, {"momentum", 0.7f}}));
  EXPECT_EQ(optimizer.learning_rate.value(10), 0.5f);
  EXPECT_EQ(optimizer.regularization, (Regularization{Regularization::l2, 1e-4f}));
  EXPECT_EQ(optimizer.grad_clip->clip_norm, 5);
  EXPECT_EQ(optimizer.grad_clip->group_name, "default_group");
  EXPECT_TRUE(Optimizer(Adam{.lazy_mode = true}).lazy_mode);
}

TEST(Optimizer, WeightDecaySparesTheParametersThatTheFilterNames) {
  const auto is_bias = [](std::string_view name) { return name.ends_with(".b_0"); };
  const Optimizer lamb = Lamb{.exclude_from_weight_decay_fn = is_bias};
  EXPECT_EQ(lamb.hyper_parameters_of("fc_0.b_0").at("weight_decay"), 0);
  EXPECT_EQ(lamb.hyper_parameters_of("fc_0.w_0").at("weight_decay"), 0.01f);
  const Optimizer lars = LarsMomentum{.learning_rate = 0.1, .momentum = 0.9, .exclude_from_weight_decay_fn = is_bias};
  EXPECT_EQ(lars.hyper_parameters_of("fc_0.b_0").at("lars_weight_decay"), 0);
  EXPECT_EQ(lars.hyper_parameters_of("fc_0.w_0").at("lars_weight_decay"), 0.0005f);
  const Optimizer adamw = AdamW{.apply_decay_param_fun = [&](std::string_view name) { return !is_bias(name); }};
  EXPECT_EQ(adamw.hyper_parameters_of("fc_0.b_0").at("coeff"), 0);
  EXPECT_EQ(adamw.hyper_parameters_of("fc_0.w_0"), adamw.hyper_parameters);
}

TEST(Optimizer, CheckNamesWhatIsWrong) {
  const auto message = [](const Optimizer& optimizer) { return optimizer.check().message(); };
  EXPECT_EQ(message(SGD{.learning_rate = piecewise_decay({1}, {})}),
            "learning-rate schedule 'piecewise': piecewise needs one value more than boundaries");
  EXPECT_EQ(message(SGD{.learning_rate = 0.1, .grad_clip = GradientClipByNorm{}}),
            "GradientClipByNorm: clip_norm is 0; expected a finite number above 0");
  EXPECT_EQ(message(SGD{.learning_rate = 0.1, .grad_clip = GradientClipByValue{.max = -1}}),
            "GradientClipByValue: min is 1 and max -1; expected min <= max (min is -max where it is left out)");
  EXPECT_EQ(message(SGD{.learning_rate = 0.1, .regularization = L1Decay{std::numeric_limits<double>::infinity()}}),
            "L1Decay: regularization_coeff is inf; expected a finite number");
}

// The numbers of fluid.regularizer in Paddle 1.8: sign(0) is 0.
TEST(Regularize, AddsThePenaltysGradient) {
  const std::vector<float> param = {2, -3, 0};
  std::vector<float> grad = {1, 1, 1};
  regularize(L2Decay{0.5}, param, grad);
  EXPECT_EQ(grad, (std::vector<float>{2, -0.5f, 1}));
  grad = {1, 1, 1};
  regularize(L1Decay{0.25}, param, grad);
  EXPECT_EQ(grad, (std::vector<float>{1.25f, 0.75f, 1}));
}

TEST(Clip, ByValueKeepsWhatIsInside) {
  std::vector<float> grad = {-5, -1, 0.5f, 1, 7};
  const GradientClip clip = GradientClipByValue{.max = 1};
  clip_by_value(grad, clip.min, clip.max);
  EXPECT_EQ(grad, (std::vector<float>{-1, -1, 0.5f, 1, 1}));
}

TEST(Clip, ByNormShortensButNeverLengthens) {
  EXPECT_EQ(clip_factor(25, 1), 0.2f);
  EXPECT_EQ(clip_factor(25, 5), 1);
  EXPECT_EQ(clip_factor(25, 100), 1);
  EXPECT_EQ(clip_factor(0, 1), 1);
  std::vector<float> grad = {3, 4};
  scale(grad, clip_factor(sum_of_squares(grad), 1));
  EXPECT_NEAR(std::sqrt(sum_of_squares(grad)), 1, 1e-6);
}

// A million equal values: a float32 sum would be off by percents.
TEST(Clip, SumOfSquaresIsInFloat64) {
  const std::vector<float> grad(1'000'003, 0.1f);
  const double square = static_cast<double>(0.1f) * 0.1f;
  EXPECT_NEAR(sum_of_squares(grad) / (square * static_cast<double>(grad.size())), 1, 1e-12);
}

TEST(Clip, TheFilterLeavesTheOthersAlone) {
  const GradientClip all = GradientClipByNorm{.clip_norm = 1};
  EXPECT_TRUE(all.applies_to("fc_0.w_0"));
  const GradientClip some =
      GradientClipByNorm{.clip_norm = 1, .need_clip = [](std::string_view name) { return name == "fc_0.w_0"; }};
  EXPECT_TRUE(some.applies_to("fc_0.w_0"));
  EXPECT_FALSE(some.applies_to("fc_0.b_0"));
}

}  // namespace
}  // namespace argosy::optim
