#include "argosy/graph/minimize.h"

#include <gmock/gmock.h>

#include <set>

#include "argosy/graph/ops_test.h"

namespace argosy::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class MinimizeTest : public GraphTest {
 protected:
  Variable loss(const ParamAttr& weight = {}, const ParamAttr& bias = ParamAttr::none()) {
    return mean(fc(data("x", {-1, 4}), 1, weight, bias));
  }

  // The names after "fc_0.w_0_", of the variables that outlive a run and are not parameters.
  std::set<std::string> states() {
    std::set<std::string> found;
    for (const VarDesc* variable : main_->persistables()) {
      const std::string prefix = "fc_0.w_0_";
      if (variable->name.starts_with(prefix)) found.insert(variable->name.substr(prefix.size()));
    }
    return found;
  }

  const OpDesc& writer_in_startup(const std::string& variable) {
    for (const auto& op : startup_->global_block().ops()) {
      if (op->output_names() == std::vector<std::string>{variable}) return *op;
    }
    ADD_FAILURE() << variable << " has no first values";
    static const OpDesc none;
    return none;
  }
  float first_value(const std::string& variable) { return writer_in_startup(variable).attribute_or<float>("value", -9); }
};

struct RuleCase {
  optim::Optimizer optimizer;
  std::set<std::string> elements, scalars;  // the names that Paddle 1.8.5 gives them
};

class EachRule : public MinimizeTest, public ::testing::WithParamInterface<RuleCase> {};

TEST_P(EachRule, HasPaddlesVariables) {
  const auto& [optimizer, elements, scalars] = GetParam();
  minimize(optimizer, loss());
  std::set<std::string> all = elements;
  all.insert(scalars.begin(), scalars.end());
  EXPECT_EQ(states(), all);
  for (const std::string& name : elements) EXPECT_THAT(block().find_var("fc_0.w_0_" + name)->shape, ElementsAre(4, 1)) << name;
  for (const std::string& name : scalars) EXPECT_THAT(block().find_var("fc_0.w_0_" + name)->shape, ElementsAre(1)) << name;
  for (const std::string& name : all) writer_in_startup("fc_0.w_0_" + name);

  const OpDesc& op = last_op(optimizer.rule);
  EXPECT_EQ(op.role(), kRoleOptimize);
  EXPECT_THAT(*op.inputs.find("Param"), ElementsAre("fc_0.w_0"));
  EXPECT_THAT(*op.inputs.find("Grad"), ElementsAre("fc_0.w_0@GRAD"));
  EXPECT_THAT(*op.outputs.find("ParamOut"), ElementsAre("fc_0.w_0"));
  EXPECT_EQ(op.outputs.find(""), nullptr);
  EXPECT_THAT(op.attribute_or<std::vector<std::string>>("op_role_var", {}), ElementsAre("fc_0.w_0", "fc_0.w_0@GRAD"));
  EXPECT_EQ(first_value("learning_rate_0"), 0.5f);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, EachRule,
    ::testing::Values(
        RuleCase{optim::SGD{.learning_rate = 0.5}, {}, {}},
        RuleCase{optim::Momentum{.learning_rate = 0.5, .momentum = 0.9}, {"velocity_0"}, {}},
        RuleCase{optim::Adagrad{.learning_rate = 0.5}, {"moment_0"}, {}},
        RuleCase{optim::DecayedAdagrad{.learning_rate = 0.5}, {"moment_0"}, {}},
        RuleCase{optim::Adadelta{.learning_rate = 0.5}, {"_avg_squared_grad_0", "_avg_squared_update_0"}, {}},
        RuleCase{optim::Adam{.learning_rate = 0.5}, {"moment1_0", "moment2_0"}, {"beta1_pow_acc_0", "beta2_pow_acc_0"}},
        RuleCase{optim::AdamW{.learning_rate = 0.5}, {"moment1_0", "moment2_0"}, {"beta1_pow_acc_0", "beta2_pow_acc_0"}},
        RuleCase{optim::Adamax{.learning_rate = 0.5}, {"moment_0", "inf_norm_0"}, {"beta1_pow_acc_0"}},
        RuleCase{optim::RMSProp{.learning_rate = 0.5}, {"momentum_0", "mean_square_0", "mean_grad_0"}, {}},
        RuleCase{optim::Ftrl{.learning_rate = 0.5}, {"squared_0", "linear_0"}, {}},
        RuleCase{optim::Lamb{.learning_rate = 0.5}, {"moment1_0", "moment2_0"}, {"beta1_pow_acc_0", "beta2_pow_acc_0"}}),
    [](const auto& info) { return info.param.optimizer.rule; });

TEST_F(MinimizeTest, AdamHasItsAttributesAndFirstValues) {
  minimize(optim::Adam{.learning_rate = 0.1, .beta1 = 0.8, .lazy_mode = true}, loss());
  const OpDesc& op = last_op("adam");
  EXPECT_EQ(op.attribute_or<float>("beta1", 0), 0.8f);
  EXPECT_EQ(op.attribute_or<float>("beta2", 0), 0.999f);
  EXPECT_EQ(op.attribute_or<float>("epsilon", 0), 1e-8f);
  EXPECT_TRUE(op.attribute_or<bool>("lazy_mode", false));
  EXPECT_EQ(first_value("fc_0.w_0_beta1_pow_acc_0"), 0.8f);
  EXPECT_EQ(first_value("fc_0.w_0_moment1_0"), 0.0f);
}

TEST_F(MinimizeTest, AdadeltaReadsARateOnlyWhereItIsTold) {
  optim::Optimizer optimizer = optim::Adadelta{.learning_rate = 0.5};
  minimize(optimizer, loss());
  EXPECT_EQ(last_op("adadelta").inputs.find("LearningRate"), nullptr);
  optimizer.hyper_parameters["use_learning_rate"] = 1;
  minimize(optimizer, loss());
  EXPECT_THAT(*last_op("adadelta").inputs.find("LearningRate"), ElementsAre("learning_rate_1"));
}

TEST_F(MinimizeTest, AdamIsNotLazyUnlessItIsAsked) {
  minimize(optim::Adam{}, loss());
  EXPECT_FALSE(last_op("adam").attribute_or<bool>("lazy_mode", true));
}

TEST_F(MinimizeTest, TheRateIsAVariable) {
  const auto result = minimize(optim::SGD{.learning_rate = 0.25}, loss());
  EXPECT_EQ(result.learning_rate.name(), "learning_rate_0");
  EXPECT_TRUE(result.learning_rate.persistable());
  EXPECT_THAT(*last_op("sgd").inputs.find("LearningRate"), ElementsAre("learning_rate_0"));
  EXPECT_THAT(op_types(*main_), ElementsAre("mul", "mean", "backward", "sgd"));
}

TEST_F(MinimizeTest, TheRateMayBeTheCallers) {
  const Variable rate = LayerHelper("rate", "").create_state("my_rate", {1}, DType::float32, constant_initializer(1));
  EXPECT_EQ(minimize(optim::SGD{.learning_rate = 0.25}, loss(), {.learning_rate = rate}).learning_rate.name(), "my_rate");
  EXPECT_EQ(block().find_var("learning_rate_0"), nullptr);
}

TEST_F(MinimizeTest, AParametersFactorScalesTheRate) {
  ParamAttr slow;
  slow.learning_rate = 0.1f;
  minimize(optim::SGD{.learning_rate = 0.5}, loss(slow, {}));
  const OpDesc& scale = last_op("scale");
  EXPECT_EQ(scale.attribute_or<float>("scale", 0), 0.1f);
  EXPECT_THAT(*scale.inputs.find("X"), ElementsAre("learning_rate_0"));
  std::vector<std::string> rates;
  for (const auto& op : block().ops()) {
    if (op->type == "sgd") rates.push_back(op->inputs.find("LearningRate")->front());
  }
  EXPECT_THAT(rates, ElementsAre(scale.outputs.find("Out")->front(), "learning_rate_0"));  // the weight, then the bias
}

TEST_F(MinimizeTest, ASecondOptimizerHasStateOfItsOwn) {
  const Variable target = loss();
  minimize(optim::Momentum{.learning_rate = 0.5, .momentum = 0.9}, target);
  minimize(optim::Momentum{.learning_rate = 0.5, .momentum = 0.9}, target);
  EXPECT_THAT(states(), UnorderedElementsAre("velocity_0", "velocity_1"));
  EXPECT_NE(block().find_var("learning_rate_1"), nullptr);
}

TEST_F(MinimizeTest, StartupGoesWhereItIsAsked) {
  const auto other = Program::create();
  minimize(optim::SGD{.learning_rate = 0.5}, loss(), {.startup_program = other});
  EXPECT_NE(other->global_block().find_var("learning_rate_0"), nullptr);
  EXPECT_EQ(startup_->global_block().find_var("learning_rate_0"), nullptr);
}

// Also where another program is the default one: the loss says which program is trained.
TEST_F(MinimizeTest, TheLosssProgramIsTrained) {
  const Variable target = loss();
  const auto other = Program::create();
  const ProgramGuard guard(other, startup_);
  minimize(optim::Adam{}, target);
  EXPECT_TRUE(other->global_block().ops().empty());
  EXPECT_EQ(op_types(*main_).back(), "adam");
}

TEST_F(MinimizeTest, GlobalNormClipsOnceForAllAndValueOneByOne) {
  minimize(optim::SGD{.learning_rate = 0.5, .grad_clip = optim::GradientClipByGlobalNorm{.clip_norm = 2.0}}, loss({}, {}));
  EXPECT_THAT(op_types(*main_), ElementsAre("mul", "elementwise_add", "mean", "backward", "clip_gradients", "sgd", "sgd"));
  const OpDesc& clip = last_op("clip_gradients");
  EXPECT_EQ(clip.attribute_or<std::string>("kind", ""), "by_global_norm");
  EXPECT_EQ(clip.attribute_or<float>("clip_norm", 0), 2.0f);
  EXPECT_THAT(*clip.inputs.find("X"), ElementsAre("fc_0.w_0@GRAD", "fc_0.b_0@GRAD"));
  EXPECT_EQ(clip.role(), kRoleBackward);
  EXPECT_EQ(last_op("sgd").inputs.find("Grad")->front(), clip.outputs.find("Out")->back());
}

TEST_F(MinimizeTest, ClippingByValueIsOneByOneAndSomeAreLeftOut) {
  ParamAttr alone;
  alone.need_clip = false;
  minimize(optim::SGD{.learning_rate = 0.5, .grad_clip = optim::GradientClipByValue{.max = 1.5}}, loss({}, alone));
  EXPECT_THAT(op_types(*main_), ElementsAre("mul", "elementwise_add", "mean", "backward", "clip_gradients", "sgd", "sgd"));
  EXPECT_EQ(last_op("clip_gradients").attribute_or<float>("min", 0), -1.5f);
  EXPECT_THAT(*last_op("clip_gradients").inputs.find("X"), ElementsAre("fc_0.w_0@GRAD"));
  EXPECT_EQ(last_op("sgd").inputs.find("Grad")->front(), "fc_0.b_0@GRAD");
}

TEST_F(MinimizeTest, AParametersOwnDecayComesBeforeTheOptimizers) {
  ParamAttr own;
  own.regularizer = optim::L1Decay{0.25};
  minimize(optim::SGD{.learning_rate = 0.5, .regularization = optim::L2Decay{0.5}}, loss(own, {}));
  std::vector<std::pair<std::string, float>> decays;
  for (const auto& op : block().ops()) {
    if (op->type == "regularize_gradient")
      decays.emplace_back(op->attribute_or<std::string>("kind", ""), op->attribute_or<float>("coeff", 0));
  }
  EXPECT_THAT(decays, ElementsAre(std::pair("l1", 0.25f), std::pair("l2", 0.5f)));
}

// As in Paddle: the penalty is not clipped.
TEST_F(MinimizeTest, DecayComesAfterClipping) {
  minimize(
      optim::SGD{
          .learning_rate = 0.5, .regularization = optim::L2Decay{0.5}, .grad_clip = optim::GradientClipByNorm{.clip_norm = 1}},
      loss());
  EXPECT_THAT(op_types(*main_), ElementsAre("mul", "mean", "backward", "clip_gradients", "regularize_gradient", "sgd"));
  EXPECT_EQ(last_op("regularize_gradient").inputs.find("Grad")->front(), last_op("clip_gradients").outputs.find("Out")->front());
  EXPECT_EQ(last_op("sgd").inputs.find("Grad")->front(), last_op("regularize_gradient").outputs.find("Out")->front());
}

TEST_F(MinimizeTest, WeightDecayIsOffWhereTheFilterSaysSo) {
  minimize(optim::AdamW{.weight_decay = 0.5, .apply_decay_param_fun = [](std::string_view name) { return name != "fc_0.b_0"; }},
           loss({}, {}));
  std::vector<float> decays;
  for (const auto& op : block().ops()) {
    if (op->type == "adamw") decays.push_back(op->attribute_or<float>("coeff", -1));
  }
  EXPECT_THAT(decays, ElementsAre(0.5f, 0.0f));
}

TEST_F(MinimizeTest, AScheduleCountsRuns) {
  minimize(optim::SGD{.learning_rate = optim::exponential_decay(1.0, 100, 0.5, true)}, loss());
  EXPECT_THAT(op_types(*main_), ElementsAre("increment", "mul", "mean", "backward", "learning_rate_schedule", "sgd"));
  EXPECT_EQ(first_value(kStepCounter), -1.0f);  // so that the first run sees 0
  EXPECT_EQ(block().find_var(kStepCounter)->dtype, DType::int64);
  const OpDesc& schedule = last_op("learning_rate_schedule");
  EXPECT_EQ(schedule.role(), kRoleLearningRate);
  EXPECT_EQ(schedule.attribute_or<std::string>("kind", ""), "exponential");
  EXPECT_EQ(last_op("sgd").inputs.find("LearningRate")->front(), schedule.outputs.find("Out")->front());
}

TEST_F(MinimizeTest, TwoSchedulesShareTheCounter) {
  learning_rate_variable(optim::exponential_decay(1.0, 100, 0.5));
  learning_rate_variable(optim::cosine_decay(1.0, 10, 10));
  EXPECT_THAT(op_types(*main_), ElementsAre("increment", "learning_rate_schedule", "learning_rate_schedule"));
}

// A checkpoint of the original holds these rates in files of these names.
TEST_F(MinimizeTest, PiecewiseAndWarmUpRatesArePersistable) {
  const Variable piecewise = learning_rate_variable(optim::piecewise_decay({2}, {0.5, 0.25}));
  const Variable warm_up = learning_rate_variable(optim::linear_lr_warmup(0.5, 10, 0, 1));
  EXPECT_EQ(piecewise.name(), "learning_rate");
  EXPECT_EQ(warm_up.name(), "learning_rate_warmup");
  EXPECT_TRUE(piecewise.desc().persistable && warm_up.desc().persistable);
  EXPECT_FALSE(learning_rate_variable(optim::cosine_decay(1.0, 10, 10)).desc().persistable);
}

TEST_F(MinimizeTest, TheTestFormHasNoTraceOfTraining) {
  minimize(optim::Adam{.learning_rate = optim::noam_decay(64, 100), .grad_clip = optim::GradientClipByNorm{.clip_norm = 1}},
           loss());
  EXPECT_THAT(op_types(*main_->clone(true)), ElementsAre("mul", "mean"));
}

TEST_F(MinimizeTest, ApplyGradientsTakesPairsAsTheyAre) {
  auto pairs = append_backward(loss({}, {}));
  pairs[1].grad = Variable();
  const auto result = apply_gradients(optim::SGD{.learning_rate = 0.5}, pairs);
  EXPECT_EQ(result.params_grads.size(), 1u);
  EXPECT_THAT(op_types(*main_), ElementsAre("mul", "elementwise_add", "mean", "backward", "sgd"));
}

TEST_F(MinimizeTest, ErrorsComeBeforeTheProgramChanges) {
  const Variable x = data("x", {-1, 4});
  EXPECT_EQ(error_of([&] { apply_gradients(optim::SGD{.learning_rate = 0.5}, {}); }), "there is no gradient to apply");
  EXPECT_EQ(error_of([&] { apply_gradients(optim::SGD{.learning_rate = 0.5}, {{x, x}}); }),
            "'x' is not a parameter; it has no update");
  EXPECT_THAT(error_of([&] { apply_gradients(optim::Optimizer{"sdg", {}, 0.5}, {{x, x}}); }), HasSubstr("sgd"));
  EXPECT_TRUE(block().ops().empty());
}

}  // namespace
}  // namespace argosy::graph
