#include "argosy/graph/backward.h"

#include <gmock/gmock.h>

#include "argosy/graph/ops_test.h"

namespace argosy::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BackwardTest : public GraphTest {
 protected:
  static std::vector<std::string> names(const std::vector<ParamGrad>& pairs) {
    std::vector<std::string> names;
    for (const ParamGrad& pair : pairs) names.push_back(pair.param.name());
    return names;
  }
};

TEST_F(BackwardTest, OneOperatorDifferentiatesEveryParameter) {
  const Variable loss = mean(fc(data("x", {-1, 4}), 2));
  const auto pairs = append_backward(loss);
  EXPECT_THAT(names(pairs), ElementsAre("fc_0.w_0", "fc_0.b_0"));
  EXPECT_EQ(pairs[0].grad.name(), "fc_0.w_0@GRAD");
  EXPECT_THAT(pairs[0].grad.shape(), ElementsAre(4, 2));
  EXPECT_FALSE(pairs[0].grad.persistable());
  const OpDesc& op = last_op("backward");
  EXPECT_EQ(op.inputs, (SlotMap{{"Targets", {loss.name()}}, {"Inputs", {"fc_0.w_0", "fc_0.b_0"}}}));
  EXPECT_EQ(op.outputs, (SlotMap{{"InputGradients", {"fc_0.w_0@GRAD", "fc_0.b_0@GRAD"}}}));
  EXPECT_EQ(op.role(), kRoleBackward);
}

TEST_F(BackwardTest, TheOperatorOfTheLossIsMarked) {
  append_backward(mean(fc(data("x", {-1, 4}), 2)));
  EXPECT_EQ(last_op("mean").role(), kRoleForward | kRoleLoss);
  EXPECT_EQ(last_op("mul").role(), kRoleForward);
}

TEST_F(BackwardTest, OnlyWhatReachesTheLossIsTrained) {
  const Variable x = data("x", {-1, 4});
  const Variable loss = mean(fc(x, 2, "w", ParamAttr::none()));
  fc(x, 2, "aside", ParamAttr::none());
  EXPECT_THAT(names(append_backward(loss)), ElementsAre("w"));
}

TEST_F(BackwardTest, NothingFlowsThroughWhatStopsGradients) {
  const Variable hidden = fc(data("x", {-1, 4}), 3, "below", ParamAttr::none());
  const Variable loss = mean(fc(hidden, 2, "above", ParamAttr::none()));
  const auto copy = main_->clone(false);
  Variable(hidden).set_stop_gradient(true);
  EXPECT_THAT(names(append_backward(loss)), ElementsAre("above"));
  EXPECT_FALSE(copy->global_block().find_var(hidden.name())->stop_gradient);
}

TEST_F(BackwardTest, NothingFlowsThroughTheNoGradSet) {
  const Variable hidden = fc(data("x", {-1, 4}), 3, "below", ParamAttr::none());
  const Variable loss = mean(fc(hidden, 2, "above", "bias"));
  EXPECT_THAT(names(append_backward(loss, {}, {hidden.name(), "bias"})), ElementsAre("above"));
  EXPECT_THAT(last_op("backward").attribute_or<std::vector<std::string>>("no_grad_set", {}), ElementsAre("bias", hidden.name()));
}

TEST_F(BackwardTest, FrozenParametersHaveNoGradient) {
  ParamAttr frozen("frozen");
  frozen.trainable = false;
  const Variable loss = mean(fc(data("x", {-1, 4}), 2, frozen, "bias"));
  EXPECT_THAT(names(append_backward(loss)), ElementsAre("bias"));
}

TEST_F(BackwardTest, AParameterListChooses) {
  const Variable loss = mean(fc(data("x", {-1, 4}), 2, "w", "b"));
  EXPECT_THAT(names(append_backward(loss, {"b"})), ElementsAre("b"));
  EXPECT_EQ(error_of([&] { append_backward(loss, {"b", "v"}); }), "parameter_list names 'v', which the program does not have");
  EXPECT_EQ(error_of([&] { append_backward(loss, {"x"}); }), "parameter_list names 'x', which is not a parameter");
}

TEST_F(BackwardTest, ErrorsSayWhatToDo) {
  const Variable x = data("x", {-1, 4});
  const Variable out = fc(x, 2, "w", ParamAttr::none());
  EXPECT_THAT(error_of([&] { append_backward(out); }),
              HasSubstr("has shape [-1, 2]; minimize needs one number: take its mean or sum first"));
  const Variable constant = mean(x);
  EXPECT_EQ(error_of([&] { append_backward(constant); }), "no trainable parameter reaches loss '" + constant.name() + "'");
  EXPECT_THAT(error_of([&] { append_backward(constant, {"w"}); }), HasSubstr("among w"));
}

// A table that is only looked up, sparsely, has a gradient of rows; any other use makes it dense.
TEST_F(BackwardTest, ATableHasAGradientOfRowsWhereItCan) {
  const Variable ids = data("ids", {-1, 1}, DType::int64);
  const Variable sparse = embedding(ids, {10, 4}, true, "sparse");
  const Variable twice = embedding(ids, {10, 4}, true, "sparse");
  const Variable dense = embedding(ids, {10, 4}, false, "dense");
  const Variable both = embedding(ids, {10, 4}, true, "both");
  embedding(ids, {10, 4}, false, "both");
  LayerHelper helper("concat", "");
  const Variable all = helper.create_tmp();
  helper.append_op({.type = "concat",
                    .inputs = {{"X", {sparse.name(), twice.name(), dense.name(), both.name()}}},
                    .outputs = {{"Out", {all.name()}}}});
  const auto pairs = append_backward(mean(all));
  ASSERT_THAT(names(pairs), ElementsAre("sparse", "dense", "both"));
  EXPECT_EQ(pairs[0].grad.desc().kind, VarKind::selected_rows);
  EXPECT_EQ(pairs[1].grad.desc().kind, VarKind::lod_tensor);
  EXPECT_EQ(pairs[2].grad.desc().kind, VarKind::lod_tensor);
}

TEST_F(BackwardTest, IntegersHaveNoGradient) {
  Variable ids = data("ids", {-1, 1}, DType::int64);
  ids.set_stop_gradient(false);
  const Variable loss = mean(embedding(ids, {10, 4}, false));
  EXPECT_FALSE(gradients({loss}, {ids})[0]);
}

TEST_F(BackwardTest, GradientsOfAnyVariables) {
  Variable x = data("x", {-1, 4}), unrelated = data("u", {-1, 4});
  x.set_stop_gradient(false), unrelated.set_stop_gradient(false);
  const Variable out = fc(x, 2, "w", ParamAttr::none());
  const Variable weight = data("weight", {-1, 2});
  const auto grads = gradients({out}, {unrelated, x, parameter("w")}, {weight});
  ASSERT_EQ(grads.size(), 3u);
  EXPECT_FALSE(grads[0]);
  EXPECT_EQ(grads[1].name(), "x@GRAD");
  EXPECT_THAT(grads[1].shape(), ElementsAre(-1, 4));
  EXPECT_EQ(grads[2].name(), "w@GRAD");
  EXPECT_EQ(last_op("backward").inputs,
            (SlotMap{{"Targets", {out.name()}}, {"TargetGradients", {"weight"}}, {"Inputs", {"x", "w"}}}));
}

TEST_F(BackwardTest, GradientsThatDoNotExistAddNothing) {
  const Variable x = data("x", {-1, 4});  // lets no gradient through
  const Variable out = fc(x, 2);
  const size_t before = block().ops().size();
  EXPECT_FALSE(gradients({out}, {x})[0]);
  EXPECT_EQ(block().ops().size(), before);
}

TEST_F(BackwardTest, GradientsWantAsManyWeightsAsTargets) {
  const Variable x = data("x", {-1, 4});
  EXPECT_EQ(error_of([&] { gradients({}, {x}); }), "gradients() needs at least one target");
  EXPECT_EQ(error_of([&] { gradients({x}, {x}, {x, x}); }), "gradients(): 1 targets but 2 target gradients");
}

// Two results about one input must both be there to fetch.
TEST_F(BackwardTest, ASecondGradientOfTheSameInputHasANameOfItsOwn) {
  Variable x = data("x", {-1, 4});
  x.set_stop_gradient(false);
  const Variable hidden = fc(x, 2, "w", ParamAttr::none());
  const auto first = gradients({hidden}, {x}), second = gradients({mean(hidden)}, {x}), third = gradients({hidden}, {x});
  EXPECT_EQ(first[0].name(), "x@GRAD");
  EXPECT_EQ(second[0].name(), "x@GRAD_0");
  EXPECT_EQ(third[0].name(), "x@GRAD_1");
  EXPECT_EQ(last_op("backward").outputs, (SlotMap{{"InputGradients", {"x@GRAD_1"}}}));
}

}  // namespace
}  // namespace argosy::graph
