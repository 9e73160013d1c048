#include "argosy/graph/op_desc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace argosy::graph {
namespace {

using testing::ElementsAre;

TEST(SlotMap, KeepsTheOrderInWhichSlotsWereGiven) {
  SlotMap slots = {{"Y", {"b"}}, {"X", {"a", "c"}}};
  slots["Z"].push_back("d");
  slots["Y"].push_back("e");
  std::vector<std::string> names;
  for (const auto& [slot, variables] : slots) names.push_back(slot);
  EXPECT_THAT(names, ElementsAre("Y", "X", "Z"));
  EXPECT_THAT(*slots.find("Y"), ElementsAre("b", "e"));
  EXPECT_EQ(slots.find("x"), nullptr) << "capitals count";
  slots.erase("Y");
  EXPECT_EQ(slots.find("Y"), nullptr);
  slots.erase("nothing");
  EXPECT_EQ(slots, (SlotMap{{"X", {"a", "c"}}, {"Z", {"d"}}}));
}

TEST(OpDesc, NamesOfAllSlotsInOrder) {
  const OpDesc op{.type = "mul", .inputs = {{"X", {"a", "b"}}, {"Y", {"c"}}}, .outputs = {{"Out", {"d"}}}, .attributes = {}};
  EXPECT_THAT(op.input_names(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(op.output_names(), ElementsAre("d"));
}

TEST(OpDesc, AnAttributeOfAnotherKindIsNone) {
  OpDesc op{.type = "scale", .inputs = {}, .outputs = {}, .attributes = {{"scale", 2.0f}}};
  EXPECT_EQ(*op.attribute<float>("scale"), 2.0f);
  EXPECT_EQ(op.attribute<int32_t>("scale"), nullptr);
  EXPECT_EQ(op.attribute_or<int32_t>("bias", 7), 7);
  EXPECT_EQ(op.role(), kRoleForward);
  op.attributes["op_role"] = int32_t{kRoleBackward | kRoleLoss};
  EXPECT_EQ(op.role(), kRoleBackward | kRoleLoss);
}

TEST(Attribute, IsPrintedAsPythonWritesIt) {
  EXPECT_EQ(attribute_to_string(Attribute(int32_t{3})), "3");
  EXPECT_EQ(attribute_to_string(Attribute(1.0f)), "1.0") << "a float can be told from a whole number";
  EXPECT_EQ(attribute_to_string(Attribute(0.1f)), "0.1") << "the shortest text that reads back";
  EXPECT_EQ(attribute_to_string(Attribute(std::numeric_limits<float>::infinity())), "inf");
  EXPECT_EQ(attribute_to_string(Attribute(true)), "True");
  EXPECT_EQ(attribute_to_string(Attribute(std::string("relu"))), "\"relu\"");
  EXPECT_EQ(attribute_to_string(Attribute(std::vector<int64_t>{1, -1})), "[1, -1]");
  EXPECT_EQ(attribute_to_string(Attribute(std::vector<bool>{true, false})), "[True, False]");
  EXPECT_EQ(attribute_to_string(Attribute(BlockRef{2})), "block[2]");
}

TEST(Attribute, EveryKindHasAName) {
  EXPECT_EQ(attribute_kind(Attribute(int32_t{})), "int");
  EXPECT_EQ(attribute_kind(Attribute(int64_t{})), "long");
  EXPECT_EQ(attribute_kind(Attribute(std::vector<std::string>{})), "strings");
  EXPECT_EQ(attribute_kind(Attribute(std::vector<double>{})), "doubles");
  EXPECT_EQ(attribute_kind(Attribute(BlockRef{})), "block");
}

// Python's 2 is any number's 2; 2.5 is no whole number, and a number that does not fit is not cut.
TEST(Attribute, IsConvertedWhereItMeansTheSame) {
  const auto converted = [](Attribute value, const Attribute& like) -> std::optional<Attribute> {
    if (!convert_attribute(value, like)) return std::nullopt;
    return value;
  };
  EXPECT_EQ(converted(int32_t{2}, 0.0f), Attribute(2.0f));
  EXPECT_EQ(converted(int64_t{2}, int32_t{}), Attribute(int32_t{2}));
  EXPECT_EQ(converted(int64_t{1} << 40, int32_t{}), std::nullopt);
  EXPECT_EQ(converted(int32_t{2}, int64_t{}), Attribute(int64_t{2}));
  EXPECT_EQ(converted(true, int32_t{}), Attribute(int32_t{1}));
  EXPECT_EQ(converted(2.5f, int32_t{}), std::nullopt);
  EXPECT_EQ(converted(2.5f, double{}), Attribute(2.5));
  EXPECT_EQ(converted(std::string("2"), int32_t{}), std::nullopt);
  EXPECT_EQ(converted(std::vector<int32_t>{1, 2}, std::vector<float>{}), Attribute(std::vector<float>{1, 2}));
  EXPECT_EQ(converted(std::vector<int64_t>{1, int64_t{1} << 40}, std::vector<int32_t>{}), std::nullopt);
  EXPECT_EQ(converted(std::vector<int32_t>{}, std::vector<std::string>{}), Attribute(std::vector<std::string>{}))
      << "[] is any list's";
  EXPECT_EQ(converted(std::vector<int32_t>{}, int32_t{}), std::nullopt);
}

TEST(Attribute, StaysAsItIsWhereItDoesNotFit) {
  Attribute value = int64_t{1} << 40;
  EXPECT_FALSE(convert_attribute(value, Attribute(int32_t{})));
  EXPECT_EQ(value, Attribute(int64_t{1} << 40));
}

}  // namespace
}  // namespace argosy::graph
