// Counts and running extremes against plain loops over random values.
#include <gmock/gmock.h>

#include <algorithm>

#include "argosy/engine/ops/apply_op_test.h"

namespace argosy::engine {
namespace {

using testing::HasSubstr;
using Outputs = std::vector<std::pair<std::string, DType>>;

std::vector<int64_t> whole_numbers(const at::Tensor& x) {
  const at::Tensor flat = x.to(at::kLong).flatten();
  return {flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel()};
}

class Counting : public OpTest {
 protected:
  Variable histogram(const Variable& x, int64_t bins, int32_t low, int32_t high) {
    return apply_op("histogram", {{"X", {x.name()}}}, {{"bins", bins}, {"min", low}, {"max", high}}, {{"Out", DType::int64}})[0];
  }
};

// Each interval has its lower end, the last one its upper end too; what lies outside is not counted.
TEST_F(Counting, AHistogramCountsWhatLiesBetweenItsBounds) {
  const Variable counts = histogram(data("x", {-1}), 4, 0, 8);
  EXPECT_EQ(counts.shape(), (std::vector<int64_t>{4}));
  const at::Tensor x = at::randint(-8, 64, {200}, at::kDouble) / 4;  // multiples of a quarter, also at all bounds
  std::vector<int64_t> expected(4, 0);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double value = x[i].item<double>();
    if (value >= 0 && value <= 8) ++expected[static_cast<size_t>(std::min(value / 2, 3.0))];
  }
  EXPECT_EQ(whole_numbers(run({{"x", {.tensor = x}}}, counts)), expected);
}

TEST_F(Counting, AHistogramWithoutBoundsHasThoseOfItsEntries) {
  const Variable counts = histogram(data("x", {-1}), 2, 0, 0);
  EXPECT_EQ(whole_numbers(run({{"x", {.tensor = doubles({-3, -2, 4, 5, 5})}}}, counts)), (std::vector<int64_t>{2, 3}));
}

TEST_F(Counting, AHistogramNeedsIntervalsAndBoundsInOrder) {
  const Variable x = data("x", {-1});
  const Feed feed = {{"x", {.tensor = doubles({1})}}};
  EXPECT_THAT(error_with(feed, [&] { return histogram(x, 0, 0, 8); }), HasSubstr("attribute 'bins' is 0, expected 1 or more"));
  EXPECT_THAT(error_with(feed, [&] { return histogram(x, 4, 8, 0); }), HasSubstr("min 8 is above max 0"));
}

// As many counts as the largest entry asks, and never fewer than minlength.
TEST_F(Counting, BincountCountsWholeNumbers) {
  const Variable x = data("x", {-1}, DType::int64), weights = data("weights", {-1});
  const Variable counts = apply_op("bincount", {{"X", {x.name()}}}, {{"minlength", 3}}, {{"Out", DType::int64}})[0];
  const Variable sums =
      apply_op("bincount", {{"X", {x.name()}}, {"Weights", {weights.name()}}}, {}, {{"Out", DType::float64}})[0];
  EXPECT_EQ(counts.shape(), (std::vector<int64_t>{-1}));
  EXPECT_EQ(sums.dtype(), DType::float64);
  const Feed feed = {{"x", {.tensor = longs({1, 4, 1})}}, {"weights", {.tensor = doubles({0.5, 2, 0.25})}}};
  EXPECT_EQ(whole_numbers(run(feed, counts)), (std::vector<int64_t>{0, 2, 0, 0, 1}));
  EXPECT_TRUE(at::equal(run(feed, sums), doubles({0, 0.75, 0, 0, 2})));
  const Feed none = {{"x", {.tensor = longs({})}}, {"weights", {.tensor = doubles({})}}};
  EXPECT_EQ(whole_numbers(run(none, counts)), (std::vector<int64_t>{0, 0, 0})) << "minlength";
}

TEST_F(Counting, BincountRefusesNumbersBelowZeroAndMatrices) {
  const Variable x = data("x", {-1}, DType::int64);
  const Variable counts = apply_op("bincount", {{"X", {x.name()}}}, {}, {{"Out", DType::int64}})[0];
  EXPECT_THAT(error_of({{"x", {.tensor = longs({3, -1})}}}, counts),
              HasSubstr("'x' has shape [2], expected one axis of whole numbers, 0 or more"));
}

// The extreme so far, and a place where it is: each found place holds the found value.
TEST_F(Counting, RunningExtremesAreThoseOfTheEntriesSoFar) {
  const Variable x = data("x", {-1, 5});
  const Outputs outputs = {{"out", DType::float64}, {"indices", DType::int32}};
  const auto largest = apply_op("cummax", {{"x", {x.name()}}}, {{"axis", 0}, {"dtype", 2}}, outputs);
  const auto smallest = apply_op("cummin", {{"x", {x.name()}}}, {{"dtype", 2}}, outputs);
  const at::Tensor values = at::randperm(20).to(at::kDouble).view({4, 5});
  const Feed feed = {{"x", {.tensor = values}}};
  const at::Tensor high = run(feed, largest[0]), low = run(feed, smallest[0]);
  for (int64_t row = 0; row < 4; ++row) {
    for (int64_t column = 0; column < 5; ++column) {
      EXPECT_EQ(high[row][column].item<double>(), values.slice(0, 0, row + 1).select(1, column).max().item<double>());
      EXPECT_EQ(low[row][column].item<double>(), values[row].slice(0, 0, column + 1).min().item<double>());
    }
  }
  const at::Tensor where_high = run(feed, largest[1]), where_low = run(feed, smallest[1]);
  EXPECT_EQ(where_high.scalar_type(), at::kInt);
  EXPECT_TRUE(at::equal(values.gather(0, where_high.to(at::kLong)), high));
  EXPECT_TRUE(at::equal(values.gather(1, where_low.to(at::kLong)), low));
  check_gradients(largest[0], feed, {x});
  check_gradients(smallest[0], feed, {x});
}

TEST_F(Counting, AnAxisThatIsNotThereIsNamedWhileBuilding) {
  const Variable x = data("x", {-1, 5});
  for (const char* type : {"cummax", "cummin"}) {
    EXPECT_THAT(refusal_of([&] {
                  apply_op(type, {{"x", {x.name()}}}, {{"axis", 2}}, {{"out", DType::float64}, {"indices", DType::int32}});
                }),
                HasSubstr("axis 2 is outside variable 'x' [-1, 5], which has 2 dimensions"));
  }
}

TEST_F(Counting, TheModeIsTheMostFrequentEntryAndItsPlaceHoldsIt) {
  const Variable x = data("x", {-1, 6});
  const Outputs outputs = {{"Out", DType::float64}, {"Indices", DType::int64}};
  const auto plain = apply_op("mode", {{"X", {x.name()}}}, {}, outputs);
  const auto kept = apply_op("mode", {{"X", {x.name()}}}, {{"keepdim", true}}, outputs);
  EXPECT_EQ(plain[0].shape(), (std::vector<int64_t>{-1}));
  EXPECT_EQ(kept[1].shape(), (std::vector<int64_t>{-1, 1}));
  const at::Tensor rows = doubles({3, 1, 3, 2, 3, 1, /**/ 0, 0, 5, 5, 5, 9}).view({2, 6});
  const Feed feed = {{"x", {.tensor = rows}}};
  EXPECT_TRUE(at::equal(run(feed, plain[0]), doubles({3, 5})));
  EXPECT_TRUE(at::equal(run(feed, kept[0]), doubles({3, 5}).view({2, 1})));
  EXPECT_TRUE(at::equal(rows.gather(1, run(feed, kept[1])), run(feed, kept[0])));
}

// Of one axis the result has one entry, not none: programs have no tensors without axes.
TEST_F(Counting, TheModeOfOneAxisHasAnAxis) {
  const Variable x = data("x", {-1});
  const auto found = apply_op("mode", {{"X", {x.name()}}}, {}, {{"Out", DType::float64}, {"Indices", DType::int64}});
  EXPECT_EQ(found[0].shape(), (std::vector<int64_t>{1}));
  EXPECT_TRUE(at::equal(run({{"x", {.tensor = doubles({7, 2, 7})}}}, found[0]), doubles({7})));
}

// What was left out is told by Index and Counts: together they give the input back.
TEST_F(Counting, RunsOfEqualEntriesBecomeOneEach) {
  const Variable x = data("x", {-1}, DType::int64);
  const auto found = apply_op("unique_consecutive", {{"X", {x.name()}}}, {{"return_inverse", true}, {"return_counts", true}},
                              {{"Out", DType::int64}, {"Index", DType::int64}, {"Counts", DType::int64}});
  const at::Tensor values = at::randint(0, 3, {60}, at::kLong);
  const auto results = run({{"x", {.tensor = values}}}, found);
  std::vector<int64_t> runs, lengths;
  for (const int64_t value : whole_numbers(values)) {
    if (runs.empty() || runs.back() != value) runs.push_back(value), lengths.push_back(0);
    ++lengths.back();
  }
  EXPECT_EQ(whole_numbers(results[0].tensor), runs);
  EXPECT_EQ(whole_numbers(results[2].tensor), lengths);
  EXPECT_TRUE(at::equal(results[0].tensor.index_select(0, results[1].tensor), values));
}

TEST_F(Counting, RunsOfEqualRowsBecomeOneRow) {
  const Variable x = data("x", {-1, 2});
  const auto found = apply_op("unique_consecutive", {{"X", {x.name()}}}, {{"axis", std::vector<int32_t>{0}}, {"dtype", 2}},
                              {{"Out", DType::float64}, {"Index", DType::int32}, {"Counts", DType::int32}});
  EXPECT_EQ(found[0].shape(), (std::vector<int64_t>{-1, 2}));
  const auto results = run({{"x", {.tensor = doubles({1, 2, 1, 2, 1, 3, 1, 2}).view({4, 2})}}}, found);
  EXPECT_TRUE(at::equal(results[0].tensor, doubles({1, 2, 1, 3, 1, 2}).view({3, 2})));
  EXPECT_EQ(whole_numbers(results[1].tensor), (std::vector<int64_t>{0, 0, 1, 2}));
  EXPECT_EQ(results[2].tensor.scalar_type(), at::kInt);
}

}  // namespace
}  // namespace argosy::engine
