#include "argosy/graph/op_schema.h"

#include <gmock/gmock.h>

#include "argosy/graph/ops_test.h"

namespace argosy::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SchemaTest : public GraphTest {
 protected:
  static Status check(OpDesc op) { return check_and_complete(op, *OpSchemas::instance().find(op.type)); }
  static OpDesc concat() { return {.type = "concat", .inputs = {{"X", {"a", "b"}}}, .outputs = {{"Out", {"c"}}}}; }
};

TEST_F(SchemaTest, DefaultsAreFilledIn) {
  OpDesc op = concat();
  ASSERT_TRUE(check_and_complete(op, *OpSchemas::instance().find("concat")).ok());
  EXPECT_EQ(op.attribute_or<int32_t>("axis", -9), 0);
  EXPECT_NE(op.attribute<std::vector<int64_t>>("sections"), nullptr);
}

TEST_F(SchemaTest, ErrorsNameTheSlot) {
  OpDesc op = concat();
  op.inputs["Axes"] = {"d"};
  EXPECT_EQ(check(op).message(), "operator 'concat' has no input 'Axes'; it has X");
  op = concat();
  op.outputs["Outt"] = {"d"};
  EXPECT_EQ(check(op).message(), "operator 'concat' has no output 'Outt'; did you mean 'Out'?");
  op = concat();
  op.outputs["Out"] = {"c", "d"};
  EXPECT_EQ(check(op).message(), "operator 'concat': output 'Out' takes one variable, 2 were given");
  op = concat();
  op.inputs.erase("X");
  EXPECT_EQ(check(op).message(), "operator 'concat': input 'X' is missing (a test's)");
  op.inputs["X"] = {};
  EXPECT_EQ(check(op).message(), "operator 'concat': input 'X' is missing (a test's)");
}

TEST_F(SchemaTest, AnOptionalSlotMayBeAbsentOrEmpty) {
  OpDesc op{.type = "dropout", .inputs = {{"X", {"a"}}}, .outputs = {{"Out", {"b"}}}};
  EXPECT_TRUE(check(op).ok());
  op.outputs["Mask"] = {};
  EXPECT_TRUE(check(op).ok());
}

TEST_F(SchemaTest, ErrorsNameTheAttribute) {
  OpDesc op = concat();
  op.attributes["axes"] = 1;
  EXPECT_EQ(check(op).message(), "operator 'concat' has no attribute 'axes'; did you mean 'axis'?");
  op = concat();
  op.attributes["axis"] = std::string("one");
  EXPECT_EQ(check(op).message(), "operator 'concat': attribute 'axis' is string \"one\", expected int");
  op.attributes["axis"] = int64_t{1} << 40;
  EXPECT_EQ(check(op).message(), "operator 'concat': attribute 'axis' is long 1099511627776, expected int");
}

TEST_F(SchemaTest, AttributesThatAnyOperatorMayHavePass) {
  OpDesc op = concat();
  op.attributes = {{"op_role", 0}, {"op_callstack", std::vector<std::string>{"here"}}, {"op_device", std::string()}};
  EXPECT_TRUE(check(op).ok());
}

// Operators from files carry attributes of other versions, and kinds that differ; nothing of it is an error.
TEST_F(SchemaTest, CompletingChecksNothing) {
  OpDesc op = concat();
  op.inputs["Axes"] = {};
  op.attributes = {{"use_quantizer", false}, {"sections", std::vector<int32_t>{1, 2}}};
  complete(op, *OpSchemas::instance().find("concat"));
  EXPECT_TRUE(op.attributes.contains("use_quantizer"));
  EXPECT_THAT(op.attribute_or<std::vector<int64_t>>("sections", {}), ElementsAre(1, 2));
  EXPECT_EQ(op.attribute_or<int32_t>("axis", -9), 0);
}

TEST(Attributes, AreConvertedWhereTheyMeanTheSame) {
  const auto converted = [](Attribute value, const Attribute& wanted) {
    EXPECT_TRUE(convert_attribute(value, wanted)) << attribute_to_string(value) << " to " << attribute_kind(wanted);
    return value;
  };
  EXPECT_EQ(converted(3, 0.0f), Attribute(3.0f));
  EXPECT_EQ(converted(int64_t{3}, 0.0f), Attribute(3.0f));
  EXPECT_EQ(converted(0.5, 0.0f), Attribute(0.5f));
  EXPECT_EQ(converted(0.5f, 0.0), Attribute(0.5));
  EXPECT_EQ(converted(int64_t{3}, 0.0), Attribute(3.0));
  EXPECT_EQ(converted(3, int64_t{0}), Attribute(int64_t{3}));
  EXPECT_EQ(converted(int64_t{3}, 0), Attribute(3));
  EXPECT_EQ(converted(true, 0), Attribute(1));
  EXPECT_EQ(converted(std::vector<int32_t>{1}, std::vector<int64_t>{}), Attribute(std::vector<int64_t>{1}));
  EXPECT_EQ(converted(std::vector<int64_t>{1}, std::vector<int32_t>{}), Attribute(std::vector<int32_t>{1}));
  EXPECT_EQ(converted(std::vector<int32_t>{1}, std::vector<float>{}), Attribute(std::vector<float>{1}));
  EXPECT_EQ(converted(std::vector<float>{0.5f}, std::vector<double>{}), Attribute(std::vector<double>{0.5}));
  EXPECT_EQ(converted(std::vector<int32_t>{}, std::vector<std::string>{}), Attribute(std::vector<std::string>{}));
}

TEST(Attributes, StayAsTheyAreWhereTheyDoNotFit) {
  const auto refused = [](const Attribute& value, const Attribute& wanted) {
    Attribute copy = value;
    return !convert_attribute(copy, wanted) && copy == value;
  };
  EXPECT_TRUE(refused(0.5f, 0));
  EXPECT_TRUE(refused(1, true));
  EXPECT_TRUE(refused(1, std::string()));
  EXPECT_TRUE(refused(int64_t{1} << 31, 0));
  EXPECT_TRUE(refused(std::vector<int64_t>{0, -(int64_t{1} << 33)}, std::vector<int32_t>{}));
  EXPECT_TRUE(refused(std::vector<float>{1}, std::vector<int32_t>{}));
  EXPECT_TRUE(refused(1, std::vector<int32_t>{}));
}

TEST(Attributes, ArePrintedAsInPython) {
  EXPECT_EQ(attribute_to_string(1.0f), "1.0");
  EXPECT_EQ(attribute_to_string(1e-20f), "1e-20");
  EXPECT_EQ(attribute_to_string(true), "True");
  EXPECT_EQ(attribute_to_string(std::vector<bool>{true, false}), "[True, False]");
  EXPECT_EQ(attribute_to_string(std::vector<std::string>{"a", "b"}), "[\"a\", \"b\"]");
  EXPECT_EQ(attribute_to_string(BlockRef{2}), "block[2]");
}

struct Broadcast {
  std::vector<int64_t> x, y;
  int axis;
  std::vector<int64_t> out;
};

TEST(BroadcastShape, FollowsPaddlesRule) {
  const Broadcast cases[] = {{{2, 3, 4}, {4}, -1, {2, 3, 4}},
                             {{2, 3, 4}, {3}, 1, {2, 3, 4}},
                             {{2, 3, 4}, {2, 3}, 0, {2, 3, 4}},
                             {{2, 3, 4}, {3, 4}, 1, {2, 3, 4}},
                             {{2, 3, 4}, {2, 3, 4}, -1, {2, 3, 4}},
                             {{2, 3, 4}, {3, 1, 1}, 1, {2, 3, 4}},  // trailing ones of y do not count
                             {{-1, 3}, {5, 3}, -1, {5, 3}},
                             {{-1, 4}, {-1, 1}, -1, {-1, 4}},
                             {{2, 1}, {1, 3}, -1, {2, 3}},
                             {{3}, {2, 3}, -1, {2, 3}},
                             {{2, 3}, {}, -1, {2, 3}}};
  for (const Broadcast& one : cases) {
    const auto out = broadcast_shape(one.x, one.y, one.axis);
    const std::string what = shape_to_string(one.x) + " " + shape_to_string(one.y) + " axis " + std::to_string(one.axis);
    ASSERT_TRUE(out.ok()) << what << ": " << out.status().message();
    EXPECT_EQ(*out, one.out) << what;
  }
}

TEST(BroadcastShape, RefusesWhatDoesNotFit) {
  EXPECT_EQ(broadcast_shape({2, 3}, {4}, -1).status().message(), "shapes [2, 3] and [4] cannot be broadcast with axis 1");
  EXPECT_FALSE(broadcast_shape({2, 3}, {3}, 5).ok());
  EXPECT_FALSE(broadcast_shape({2, 3}, {2, 3}, -4).ok());
  EXPECT_FALSE(broadcast_shape({2, 3}, {3, 2}, 1).ok());
}

}  // namespace
}  // namespace argosy::graph
