// Facts of saved tensors against plain loops; differences that are told are those that are there.
#include "argosy/inspect/tensor_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "argosy/base/random.h"

namespace argosy::inspect {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNone = std::numeric_limits<double>::quiet_NaN();

// A tensor over bytes of its own, which begin where a float does not.
template <typename T>
struct Saved {
  std::string bytes;
  graph::TensorFile tensor;
  Saved(const std::vector<T>& values, std::vector<int64_t> shape)
      : bytes(1, ' '),
        tensor{.dtype = sizeof(T) == 8 ? graph::DType::float64 : graph::DType::float32, .shape = std::move(shape)} {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    tensor.bytes = std::string_view(bytes).substr(1);
  }
};

std::string difference(const std::vector<double>& a, const std::vector<double>& b, std::vector<int64_t> shape) {
  const Saved<double> left(a, shape), right(b, shape);
  return difference_of(left.tensor, right.tensor);
}

TEST(TensorFacts, NumbersAreThoseOfTheFiniteElements) {
  Random random(11);
  for (int i = 0; i < 50; ++i) {
    const auto rows = static_cast<int64_t>(1 + random.below(6)), columns = static_cast<int64_t>(1 + random.below(4));
    std::vector<float> values;
    double squares = 0, sum = 0, least = kInfinity, most = -kInfinity;
    int64_t finite = 0, zero_rows = 0;
    for (int64_t row = 0; row < rows; ++row) {
      const bool zero = random.below(3) == 0;
      zero_rows += zero ? 1 : 0;
      for (int64_t column = 0; column < columns; ++column) {
        const bool wild = !zero && random.below(5) == 0;
        values.push_back(zero   ? 0.0f
                         : wild ? static_cast<float>(random.below(2) == 0 ? kNone : -kInfinity)
                                : static_cast<float>(random.uniform() + 0.5));
        if (wild) continue;
        const double value = values.back();
        squares += value * value;
        sum += value;
        least = std::min(least, value);
        most = std::max(most, value);
        ++finite;
      }
    }
    const Saved<float> saved(values, {rows, columns});
    const TensorFacts facts = facts_of(saved.tensor);
    EXPECT_EQ(facts.not_finite, rows * columns - finite);
    EXPECT_EQ(facts.zero_rows, zero_rows);
    EXPECT_NEAR(facts.norm, std::sqrt(squares), 1e-9);
    if (finite == 0) continue;
    EXPECT_NEAR(facts.mean, sum / static_cast<double>(finite), 1e-9);
    EXPECT_EQ(facts.min, least);
    EXPECT_EQ(facts.max, most);
  }
}

TEST(TensorFacts, ALineSaysWhatAPersonLooksFor) {
  const Saved<double> saved({0, 0, 3, -4, 0, 0}, {3, 2});
  EXPECT_EQ(facts_of(saved.tensor).line(), "float64 [3, 2]  48 B  norm 5  [-4, 3]  2 of 3 rows are 0");
  const Saved<float> wild({1, std::numeric_limits<float>::infinity()}, {2});
  EXPECT_THAT(facts_of(wild.tensor).line(), HasSubstr("1 ELEMENTS ARE NOT FINITE"));
  EXPECT_THAT(facts_of(wild.tensor).line(), Not(HasSubstr("rows"))) << "one axis has no rows";
  const Saved<float> empty({}, {0, 4});
  EXPECT_EQ(facts_of(empty.tensor).line(), "float32 [0, 4]  0 B");
}

TEST(TensorFacts, WhatIsNoFloatHasNoNumbers) {
  graph::TensorFile ids{.dtype = graph::DType::int64, .shape = {2, 1}, .lod = {{0, 1, 2}}};
  const std::string bytes(16, '\1');
  ids.bytes = bytes;
  EXPECT_EQ(facts_of(ids).line(), "int64 [2, 1]  16 B  2 sequences");
  graph::TensorFile others = ids;
  const std::string other_bytes(16, '\2');
  others.bytes = other_bytes;
  EXPECT_EQ(difference_of(ids, others), "its values differ");
  others.lod = {{0, 2, 2}};
  EXPECT_EQ(difference_of(ids, others), "its sequences have other boundaries");
}

TEST(TensorDifference, RowsThatDifferAreCountedOnce) {
  EXPECT_EQ(difference({1, 2, 3, 4, 5, 6}, {1, 2, 3.5, 3, 5, 6.25}, {3, 2}),
            "2 of 3 rows differ, the first is 1; norm of the difference 1.146; most at row 1, column 1: 4 against 3");
  EXPECT_THAT(difference({1, 2}, {1, 4}, {2}), HasSubstr("1 of 2 rows differ, the first is 1"));
}

TEST(TensorDifference, ZerosOfBothSignsAreEqual) { EXPECT_EQ(difference({0.0, 1}, {-0.0, 1}, {2}), ""); }

// What is not finite on both sides, and the same, does not differ.
TEST(TensorDifference, TheSameWithoutANumberIsTheSame) {
  EXPECT_THAT(difference({kNone, kInfinity, 1, 2}, {kNone, kInfinity, 1, 3}, {4, 1}),
              HasSubstr("1 of 4 rows differ, the first is 3; norm of the difference 1; most at row 3, column 0: 2 against 3"));
}

// A number against none, or infinities of both signs, is the largest difference there is, wherever it stands.
TEST(TensorDifference, ANumberAgainstNoneIsTheLargest) {
  EXPECT_THAT(difference({1, 2, 3}, {4, kNone, 103}, {3, 1}), HasSubstr("3 of 3 rows differ, the first is 0"));
  EXPECT_THAT(difference({1, 2, 3}, {4, kNone, 103}, {3, 1}), HasSubstr("most at row 1, column 0: 2 against nan"));
  EXPECT_THAT(difference({1, -kInfinity}, {9, kInfinity}, {2, 1}), HasSubstr("most at row 1, column 0: -inf against inf"));
}

TEST(TensorDifference, OtherShapesAndTypesAreTold) {
  const Saved<double> wide({1, 2}, {1, 2}), tall({1, 2}, {2, 1});
  const Saved<float> single({1, 2}, {1, 2});
  EXPECT_EQ(difference_of(wide.tensor, tall.tensor), "float64 [1, 2] against float64 [2, 1]");
  EXPECT_EQ(difference_of(wide.tensor, single.tensor), "float64 [1, 2] against float32 [1, 2]");
}

TEST(TensorFacts, SizesHaveTheUnitThatReadsBest) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(uint64_t{1} << 20), "1.0 MiB");
  EXPECT_EQ(bytes_text(~uint64_t{0}), "16777216.0 TiB");
}

}  // namespace
}  // namespace argosy::inspect
