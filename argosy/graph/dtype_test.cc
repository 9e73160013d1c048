#include "argosy/graph/dtype.h"

#include <gtest/gtest.h>

namespace argosy::graph {
namespace {

// The numbers are those of PaddlePaddle's files.
TEST(DType, HasPaddlesNumbersAndNames) {
  EXPECT_EQ(dtype_from_number(5), DType::float32);
  EXPECT_EQ(dtype_from_number(3), DType::int64);
  EXPECT_EQ(dtype_from_number(22), DType::bfloat16);
  EXPECT_EQ(dtype_from_number(7), std::nullopt) << "a variable that is no tensor";
  EXPECT_EQ(dtype_from_number(-1), std::nullopt);
}

TEST(DType, EveryNameReadsBack) {
  for (int number = 0; number < 32; ++number) {
    const auto dtype = dtype_from_number(number);
    if (!dtype) continue;
    EXPECT_EQ(parse_dtype(dtype_name(*dtype)), dtype);
    EXPECT_GT(dtype_size(*dtype), 0u);
  }
}

TEST(DType, OtherSpellingsAreRead) {
  EXPECT_EQ(parse_dtype("FP32"), DType::float32);
  EXPECT_EQ(parse_dtype("VarType.FP64"), DType::float64);
  EXPECT_EQ(parse_dtype("VarType.INT64"), DType::int64);
  EXPECT_EQ(parse_dtype("bool"), DType::boolean);
  EXPECT_EQ(parse_dtype("BF16"), DType::bfloat16);
  for (const char* none : {"", "float", "Float32", "VarType.", "complex64"}) EXPECT_EQ(parse_dtype(none), std::nullopt) << none;
}

TEST(DType, SizesAndKinds) {
  EXPECT_EQ(dtype_size(DType::boolean), 1u);
  EXPECT_EQ(dtype_size(DType::bfloat16), 2u);
  EXPECT_EQ(dtype_size(DType::float64), 8u);
  EXPECT_TRUE(is_floating(DType::float16));
  EXPECT_FALSE(is_floating(DType::int8));
}

}  // namespace
}  // namespace argosy::graph
