#include "argosy/table/rule_states.h"

#include <gtest/gtest.h>

#include "argosy/table/dense_table.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

// Adam: moment1, moment2, beta1's power, beta2's power.
TEST(RuleStatesTest, StatesOfADenseBlockAreReadAndWrittenOneByOne) {
  auto table = DenseTable::make({.name = "w", .size = 3, .rule = "adam"});
  ASSERT_TRUE(table.ok());
  ASSERT_TRUE((*table)->set(std::vector<float>{1, 2, 3}).ok());
  ASSERT_TRUE((*table)->apply(0.1f, std::vector<float>{1, 0, -1}).ok());
  std::vector<float> moment(3), power(1);
  ASSERT_TRUE((*table)->copy_state(0, moment).ok());
  EXPECT_FLOAT_EQ(moment[0], 0.1f);
  EXPECT_FLOAT_EQ(moment[2], -0.1f);
  ASSERT_TRUE((*table)->copy_state(2, power).ok());
  EXPECT_FLOAT_EQ(power[0], 0.9f * 0.9f);
  ASSERT_TRUE((*table)->set_state(1, std::vector<float>{7, 8, 9}).ok());
  ASSERT_TRUE((*table)->copy_state(1, moment).ok());
  EXPECT_EQ(moment, (std::vector<float>{7, 8, 9}));
  EXPECT_EQ((*table)->copy_state(4, moment).code(), Code::invalid_argument);
  EXPECT_EQ((*table)->set_state(2, moment).code(), Code::invalid_argument);
}

TEST(RuleStatesTest, StatesOfRowsAreReadAndWrittenOneByOne) {
  auto table = SparseTable::make({.name = "emb", .width = 2, .rule = "adagrad"});
  ASSERT_TRUE(table.ok());
  const std::vector<uint64_t> keys = {5, 6};
  const TableStep step = (*table)->begin_step(0.1f);
  ASSERT_TRUE((*table)->apply(step, std::vector<uint64_t>{5}, std::vector<float>{2, 3}).ok());
  std::vector<float> moment(4);
  ASSERT_TRUE((*table)->copy_state(0, keys, moment).ok());
  EXPECT_EQ(moment, (std::vector<float>{4, 9, 0, 0})) << "a row that is not there has the initial state";
  EXPECT_EQ((*table)->size().rows, 1u) << "reading makes no rows";
  ASSERT_TRUE((*table)->set_state(0, keys, std::vector<float>{1, 2, 3, 4}).ok());
  ASSERT_TRUE((*table)->copy_state(0, keys, moment).ok());
  EXPECT_EQ(moment, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ((*table)->copy_state(1, keys, moment).code(), Code::invalid_argument);
}

TEST(RuleStatesTest, AScalarOfASparseTableIsOneNumber) {
  auto table = SparseTable::make({.name = "emb", .width = 2, .rule = "adam"});
  ASSERT_TRUE(table.ok());
  std::vector<float> power(1);
  ASSERT_TRUE((*table)->set_state(3, {}, std::vector<float>{0.5f}).ok());
  ASSERT_TRUE((*table)->copy_state(3, {}, power).ok());
  EXPECT_EQ(power[0], 0.5f);
}

}  // namespace
}  // namespace argosy::table
