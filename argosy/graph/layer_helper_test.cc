#include "argosy/graph/layer_helper.h"

#include <gmock/gmock.h>

#include "argosy/graph/ops_test.h"

namespace argosy::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LayerHelperTest : public GraphTest {};

TEST_F(LayerHelperTest, AParameterHasItsFirstValuesInTheStartupProgram) {
  LayerHelper helper("fc", "");
  const Variable w = helper.create_parameter({}, {4, 6}, DType::float32);
  const Variable b = helper.create_parameter({}, {6}, DType::float32, true);
  EXPECT_EQ(w.name(), "fc_0.w_0");
  EXPECT_EQ(b.name(), "fc_0.b_0");
  EXPECT_TRUE(w.persistable());
  EXPECT_TRUE(w.desc().is_parameter());
  EXPECT_THAT(op_types(*startup_), ElementsAre("fill_constant", "uniform_random"));  // the newest first: zeros for a bias; Xavier
  EXPECT_TRUE(startup_->global_block().find_var("fc_0.w_0")->is_parameter());
}

TEST_F(LayerHelperTest, ParamAttrSaysEverything) {
  ParamAttr attr("weight");
  attr.initializer = normal_initializer(0, 2);
  attr.learning_rate = 0.5f;
  attr.regularizer = optim::L2Decay{0.1};
  attr.need_clip = false;
  attr.trainable = false;
  const Variable w = LayerHelper("fc", "").create_parameter(attr, {4, 6}, DType::float32, false, constant_initializer(1));
  EXPECT_EQ(w.name(), "weight");
  EXPECT_THAT(op_types(*startup_), ElementsAre("gaussian_random"));
  const ParameterInfo& info = *w.desc().parameter;
  EXPECT_EQ(info.learning_rate, 0.5f);
  EXPECT_EQ(info.regularizer, optim::Regularization(optim::L2Decay{0.1}));
  EXPECT_FALSE(info.need_clip);
  EXPECT_FALSE(info.trainable);
  EXPECT_TRUE(w.stop_gradient());
}

TEST_F(LayerHelperTest, TheLayersOwnDefaultComesBeforeXavier) {
  LayerHelper("layer_norm", "").create_parameter({}, {4}, DType::float32, false, constant_initializer(1));
  EXPECT_EQ(startup_->global_block().ops()[0]->attribute_or<float>("value", 0), 1.0f);
}

TEST_F(LayerHelperTest, AParameterIsSharedByName) {
  const Variable ids = data("ids", {-1, 1}, DType::int64);
  embedding(ids, {10, 4}, true, "table");
  embedding(ids, {10, 4}, true, "table");
  EXPECT_EQ(main_->parameters().size(), 1u);
  EXPECT_EQ(startup_->global_block().ops().size(), 1u);
  EXPECT_EQ(error_of([&] { embedding(ids, {10, 5}, true, "table"); }),
            "parameter 'table' is shared by embedding with shape [10, 5] float32, but it was made with [10, 4] float32");
}

// A second main program, for testing, is built on the same startup program: the shared weights are drawn once.
TEST_F(LayerHelperTest, FirstValuesAreDrawnOnceAStartupProgram) {
  fc(data("x", {-1, 4}), 2, "w", "b");
  const auto test = Program::create();
  const ProgramGuard guard(test, startup_);
  LayerHelper("fc", "").create_parameter("w", {4, 2}, DType::float32);
  EXPECT_EQ(test->parameters().size(), 1u);
  EXPECT_EQ(startup_->global_block().ops().size(), 2u);
}

TEST_F(LayerHelperTest, ANameIsTheUsersOrGenerated) {
  EXPECT_EQ(LayerHelper("fc", "").name(), "fc_0");
  LayerHelper named("fc", "tower");
  EXPECT_EQ(named.name(), "tower");
  EXPECT_EQ(named.create_tmp().name(), "tower.tmp_0");
  EXPECT_EQ(named.create_parameter({}, {1}, DType::float32).name(), "tower.w_0");
}

TEST_F(LayerHelperTest, StateIsPersistableAndNoParameter) {
  const Variable state = LayerHelper("auc", "").create_state("stat", {1, 3}, DType::int64, constant_initializer(0));
  EXPECT_TRUE(state.persistable());
  EXPECT_TRUE(state.stop_gradient());
  EXPECT_FALSE(state.desc().is_parameter());
  EXPECT_EQ(startup_->global_block().ops()[0]->attribute_or<int32_t>("dtype", 0), 3);
}

TEST_F(LayerHelperTest, ABiasAndAnActivationMayBeLeftOut) {
  const Variable x = data("x", {-1, 4});
  EXPECT_EQ(fc(x, 2, {}, ParamAttr::none()).name(), "fc_0.tmp_0");
  EXPECT_EQ(main_->parameters().size(), 1u);
  EXPECT_THAT(op_types(*main_), ElementsAre("mul"));
}

TEST_F(LayerHelperTest, ErrorsAreThrown) {
  const Variable x = data("x", {-1, 4});
  LayerHelper helper("fc", "");
  EXPECT_EQ(error_of([&] { helper.append_activation(x, "relo"); }), "there is no operator 'relo'; did you mean 'relu'?");
  EXPECT_EQ(error_of([&] { helper.append_bias(x, {}, 2); }), "fc: a bias on axis 2 of 'x', whose shape is [-1, 4]");
}

TEST_F(LayerHelperTest, LayersInASubBlockHaveTheirParametersInTheGlobalOne) {
  const Variable x = data("x", {-1, 4});
  Block& inner = main_->create_block(0);
  fc(x, 2);
  EXPECT_NE(block().find_var("fc_0.w_0"), nullptr);
  EXPECT_NE(inner.find_var("fc_0.tmp_0"), nullptr);
  EXPECT_EQ(inner.ops().size(), 2u);
  EXPECT_TRUE(block().ops().empty());
}

TEST_F(LayerHelperTest, ModelAveragesAreIgnoredWithAWordOnce) {
  ParamAttr attr;
  LayerHelper helper("fc", "");
  testing::internal::CaptureStderr();
  helper.create_parameter(attr, {2}, DType::float32);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  attr.do_model_average = true;
  testing::internal::CaptureStderr();
  helper.create_parameter(attr, {2}, DType::float32);
  helper.create_parameter(attr, {2}, DType::float32);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("do_model_average of parameter 'fc_0.w_1' is ignored"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

}  // namespace
}  // namespace argosy::graph
