#include "argosy/graph/initializer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace argosy::graph {
namespace {

using ::testing::ElementsAre;

VarDesc of_shape(std::vector<int64_t> shape, DType dtype = DType::float32) {
  return {.name = "p", .dtype = dtype, .shape = std::move(shape)};
}

const VarDesc kMatrix = of_shape({4, 6});
const VarDesc kFilter = of_shape({4, 3, 5, 5});

// Bit for bit the attributes that Paddle 1.8.5 writes.
void expect_uniform(const OpDesc& op, float limit, int32_t seed) {
  EXPECT_EQ(op.type, "uniform_random");
  EXPECT_EQ(op.attribute_or<float>("min", 0), -limit);
  EXPECT_EQ(op.attribute_or<float>("max", 0), limit);
  EXPECT_EQ(op.attribute_or<int32_t>("seed", -1), seed);
}

void expect_normal(const OpDesc& op, const std::string& type, float mean, float deviation, int32_t seed) {
  EXPECT_EQ(op.type, type);
  EXPECT_EQ(op.attribute_or<float>("mean", -9), mean);
  EXPECT_EQ(op.attribute_or<float>("std", -9), deviation);
  EXPECT_EQ(op.attribute_or<int32_t>("seed", -1), seed);
}

TEST(Initializer, SaysWhereShapeAndTypeGo) {
  const OpDesc op = init_op(constant_initializer(0.5f), of_shape({4, 6}, DType::float64));
  EXPECT_EQ(op.type, "fill_constant");
  EXPECT_EQ(op.outputs, (SlotMap{{"Out", {"p"}}}));
  EXPECT_THAT(op.attribute_or<std::vector<int64_t>>("shape", {}), ElementsAre(4, 6));
  EXPECT_EQ(op.attribute_or<int32_t>("dtype", -1), 6);
  EXPECT_EQ(op.attribute_or<float>("value", 0), 0.5f);
}

TEST(Initializer, UniformAndNormal) {
  expect_uniform(init_op(uniform_initializer(), kMatrix), 1.0f, 0);
  expect_uniform(init_op(uniform_initializer(-2.0f, 2.0f, 3), kMatrix), 2.0f, 3);
  expect_normal(init_op(normal_initializer(), kMatrix), "gaussian_random", 0, 1, 0);
  expect_normal(init_op(normal_initializer(1.0f, 0.5f, 7), kMatrix), "gaussian_random", 1, 0.5f, 7);
  expect_normal(init_op(truncated_normal_initializer(1.0f, 0.5f, 7), kMatrix), "truncated_gaussian_random", 1, 0.5f, 7);
}

TEST(Initializer, XavierAsPaddleComputesIt) {
  expect_uniform(init_op(xavier_initializer(), kMatrix), 0.7745966911315918f, 0);
  expect_normal(init_op(xavier_initializer(false), kMatrix), "gaussian_random", 0, 0.4472135901451111f, 0);
  expect_uniform(init_op(xavier_initializer(true, 3, 5, 2), kMatrix), 0.8660253882408142f, 2);
  expect_uniform(init_op(xavier_initializer(), kFilter), 0.18516401946544647f, 0);  // sqrt(6 / (75 + 100))
  expect_uniform(init_op(xavier_initializer(), of_shape({4, 16})), 0.547722578048706f, 0);
}

TEST(Initializer, MsraAsPaddleComputesIt) {
  expect_uniform(init_op(msra_initializer(), kMatrix), 1.2247449159622192f, 0);
  expect_normal(init_op(msra_initializer(false), kMatrix), "gaussian_random", 0, 0.7071067690849304f, 0);
  expect_uniform(init_op(msra_initializer(true, 7, 2), kMatrix), 0.9258201122283936f, 2);
  expect_uniform(init_op(msra_initializer(), kFilter), 0.2828427255153656f, 0);
  expect_normal(init_op(msra_initializer(false, 4, 0, 5.0 / 3), kMatrix), "gaussian_random", 0, 0.8333333134651184f, 0);
}

TEST(Initializer, ValuesGoToTheAttributeOfTheirType) {
  const Initializer init = values_initializer({0, 1, 2});
  EXPECT_THAT(init_op(init, of_shape({3})).attribute_or<std::vector<float>>("fp32_values", {}), ElementsAre(0, 1, 2));
  EXPECT_THAT(init_op(init, of_shape({3}, DType::int64)).attribute_or<std::vector<int64_t>>("int64_values", {}),
              ElementsAre(0, 1, 2));
  const OpDesc ints = init_op(init, of_shape({3}, DType::int32));
  EXPECT_EQ(ints.type, "assign_value");
  EXPECT_THAT(ints.attribute_or<std::vector<int32_t>>("int32_values", {}), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace argosy::graph
