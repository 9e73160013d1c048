// Entries put at places, and views, against plain loops; what does not fit is named with its numbers.
#include <gmock/gmock.h>

#include "argosy/engine/ops/apply_op_test.h"
#include "argosy/graph/layers.h"

namespace argosy::engine {
namespace {

namespace L = argosy::layers;
using testing::HasSubstr;
using Shape = std::vector<int64_t>;

class Placing : public OpTest {
 protected:
  static Variable put(const Variable& x, const std::vector<Variable>& indices, const Variable& value, bool accumulate) {
    std::vector<std::string> names;
    for (const Variable& index : indices) names.push_back(index.name());
    return apply_op("index_put", {{"x", {x.name()}}, {"indices", names}, {"value", {value.name()}}}, {{"accumulate", accumulate}},
                    {{"out", DType::float64}})[0];
  }
  static Variable strided(const Variable& x, Shape dims, Shape stride, int64_t offset = 0) {
    return apply_op("as_strided", {{"input", {x.name()}}},
                    {{"dims", std::move(dims)}, {"stride", std::move(stride)}, {"offset", offset}}, {{"out", DType::float64}})[0];
  }
  static Variable windows(const Variable& x, int64_t axis, int64_t size, int64_t step) {
    return apply_op("tensor_unfold", {{"input", {x.name()}}}, {{"axis", axis}, {"size", size}, {"step", step}},
                    {{"out", DType::float64}})[0];
  }
};

// A place that is named twice gets both values where they are added.
TEST_F(Placing, ValuesArePutOrAddedAtPlaces) {
  const Variable x = data("x", {-1, 3}), value = data("value", {-1});
  const Variable rows = data("rows", {-1}, DType::int32), columns = data("columns", {-1}, DType::int64);
  const Variable added = put(x, {rows, columns}, value, true);
  EXPECT_EQ(added.shape(), (Shape{-1, 3}));
  const at::Tensor before = at::rand({2, 3}, at::kDouble);
  const Feed feed = {{"x", {.tensor = before}},
                     {"rows", {.tensor = at::tensor({1, 0, 1}, at::kInt)}},
                     {"columns", {.tensor = longs({2, 0, 2})}},
                     {"value", {.tensor = doubles({10, 20, 30})}}};
  at::Tensor expected = before.clone();
  expected[1][2] += 40;
  expected[0][0] += 20;
  EXPECT_TRUE(at::allclose(run(feed, added), expected));
  check_gradients(added, feed, {x, value});
}

TEST_F(Placing, AMaskNamesPlacesToo) {
  const Variable x = data("x", {-1, 3}), value = data("value", {1}), mask = data("mask", {-1, 3}, DType::boolean);
  const Variable out = put(x, {mask}, value, false);
  const at::Tensor before = at::randn({4, 3}, at::kDouble);
  const Feed feed = {{"x", {.tensor = before}}, {"mask", {.tensor = before > 0}}, {"value", {.tensor = doubles({-5})}}};
  EXPECT_TRUE(at::equal(run(feed, out), at::where(before > 0, at::full_like(before, -5), before)));
  EXPECT_TRUE(at::equal(feed.at("x").tensor, before)) << "what was fed stays";
}

TEST_F(Placing, ADiagonalIsReplacedAndTheRestStays) {
  const Variable x = data("x", {-1, 4}), y = data("y", {-1});
  const auto diagonal = [&](int64_t offset) {
    return apply_op("fill_diagonal_tensor", {{"X", {x.name()}}, {"Y", {y.name()}}}, {{"offset", offset}})[0];
  };
  const at::Tensor before = at::rand({3, 4}, at::kDouble);
  for (const int64_t offset : {int64_t{0}, int64_t{2}, int64_t{-1}}) {
    at::Tensor expected = before.clone();
    std::vector<double> values;
    for (int64_t row = 0; row < 3; ++row) {
      if (row + offset < 0 || row + offset >= 4) continue;
      values.push_back(100.0 + static_cast<double>(row));
      expected[row][row + offset] = values.back();
    }
    const BuiltHere here(*main_);
    const Variable out = diagonal(offset);
    const Feed feed = {{"x", {.tensor = before}}, {"y", {.tensor = doubles(values)}}};
    EXPECT_TRUE(at::equal(run(feed, out), expected)) << "offset " << offset;
    check_gradients(out, feed, {x, y});
  }
}

// Parts within the limit stay as they are, the others have exactly that norm.
TEST_F(Placing, RenormShortensWhatIsTooLong) {
  const Variable x = data("x", {-1, 3});
  const auto limited = [&](float p) {
    return apply_op("renorm", {{"X", {x.name()}}}, {{"axis", 0}, {"p", p}, {"max_norm", 2.0f}})[0];
  };
  const at::Tensor rows = doubles({3, 4, 0, /**/ 0.5, 0.5, -1, /**/ -6, 0, 0}).view({3, 3});
  const Feed feed = {{"x", {.tensor = rows}}};
  for (const float p : {1.0f, 2.0f}) {
    const at::Tensor found = run(feed, limited(p));
    for (int64_t row = 0; row < 3; ++row) {
      const double norm = at::norm(rows[row], p).item<double>();
      const at::Tensor expected = norm > 2 ? rows[row] * (2 / norm) : rows[row];
      EXPECT_TRUE(at::allclose(found[row], expected, 1e-6, 1e-6)) << "row " << row << ", norm " << p;
    }
  }
  EXPECT_THAT(refusal_of([&] { apply_op("renorm", {{"X", {x.name()}}}, {{"axis", 2}}); }), HasSubstr("axis 2 is outside"));
}

// Entry [i, k] of the result is that at offset + i * stride[0] + k * stride[1]; entries may be taken twice.
TEST_F(Placing, AsStridedReadsTheMemoryByItsSteps) {
  const Variable x = data("x", {-1, 5});
  const at::Tensor values = at::rand({3, 5}, at::kDouble);
  const Variable out = strided(x, {4, 3}, {2, 1}, 3);
  EXPECT_EQ(out.shape(), (Shape{4, 3}));
  const Feed feed = {{"x", {.tensor = values}}};
  const at::Tensor found = run(feed, out);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t k = 0; k < 3; ++k)
      EXPECT_EQ(found[i][k].item<double>(), values.view(-1)[3 + 2 * i + k].item<double>()) << i << ", " << k;
  }
  check_gradients(out, feed, {x});
}

// Also of a tensor that is a view: its entries count in the order of its axes, not in that of the memory behind it.
TEST_F(Placing, AsStridedCountsTheEntriesOfAView) {
  const Variable x = data("x", {2, 3});
  const at::Tensor values = doubles({0, 1, 2, 3, 4, 5}).view({2, 3});
  const Variable out = strided(L::transpose(x, {1, 0}), {6}, {1});
  EXPECT_TRUE(at::equal(run({{"x", {.tensor = values}}}, out), doubles({0, 3, 1, 4, 2, 5})));
}

TEST_F(Placing, AsStridedReadsNothingOutside) {
  const Variable x = data("x", {-1, 5});
  const Feed feed = {{"x", {.tensor = at::rand({3, 5}, at::kDouble)}}};
  EXPECT_EQ(run(feed, strided(x, {5, 3}, {3, 1})).numel(), 15) << "up to the last entry";
  EXPECT_THAT(error_with(feed, [&] { return strided(x, {5, 4}, {3, 1}); }), HasSubstr("entry 15 is asked for, but 'x' has 15"));
  EXPECT_THAT(error_with(feed, [&] { return strided(x, {2}, {1}, -1); }), HasSubstr("entry 0 is asked for, but 'x' has 15"));
  EXPECT_THAT(error_with(feed, [&] { return strided(x, {2}, {-1}, 5); }),
              HasSubstr("size 2 and stride -1 of axis 0 are below 1 and 0"));
  EXPECT_THAT(error_with(feed, [&] { return strided(x, {2, 2}, {1}); }), HasSubstr("there are 2 sizes and 1 strides"));
}

TEST_F(Placing, UnfoldGivesTheWindowsOfAnAxis) {
  const Variable x = data("x", {2, 7});
  const at::Tensor values = at::rand({2, 7}, at::kDouble);
  const Feed feed = {{"x", {.tensor = values}}};
  for (const int64_t size : {1, 3, 7}) {
    for (const int64_t step : {1, 2, 9}) {
      const Variable out = windows(x, -1, size, step);
      const at::Tensor found = run(feed, out);
      check_declared(out, found);
      for (int64_t i = 0; i < found.size(1); ++i)
        EXPECT_TRUE(at::equal(found.select(1, i), values.slice(1, i * step, i * step + size))) << size << " by " << step;
      EXPECT_GT(found.size(1) * step + size, 7) << "no window is left out";
    }
  }
  check_gradients(windows(x, 1, 3, 2), feed, {x});
}

TEST_F(Placing, WindowsThatDoNotFitAreRefused) {
  const Variable x = data("x", {2, -1}), known = data("known", {2, 7});
  EXPECT_THAT(error_of({{"x", {.tensor = at::rand({2, 7}, at::kDouble)}}}, windows(x, 1, 8, 2)),
              HasSubstr("windows of 8 entries, 2 apart, do not fit the 7 of 'x' along axis 1"));
  EXPECT_THAT(refusal_of([&] { windows(known, 1, 8, 2); }),
              HasSubstr("windows of 8 entries, 2 apart, do not fit the 7 of 'known' along axis 1"));
  EXPECT_THAT(refusal_of([&] { windows(known, 1, -1, 2); }), HasSubstr("windows of -1 entries"));
  EXPECT_THAT(refusal_of([&] { windows(x, 1, 2, 0); }), HasSubstr("step is 0, expected 1 or more"));
  EXPECT_THAT(refusal_of([&] { windows(x, 2, 2, 1); }), HasSubstr("axis 2 is outside variable 'x' [2, -1]"));
}

class ListOfTensors : public OpTest {
 protected:
  // A list of two tensors, [2, 3] and [rows, 3].
  Variable list() {
    const Variable first = data("first", {-1, 3}), second = data("second", {-1, 3});
    const Variable made = L::array_write(first, L::fill_constant({1}, kInt64, 0));
    L::array_write(second, L::fill_constant({1}, kInt64, 1), made);
    return made;
  }
  static Feed rows(int64_t count) {
    return {{"first", {.tensor = at::rand({2, 3}, at::kDouble)}}, {"second", {.tensor = at::rand({count, 3}, at::kDouble)}}};
  }
  static std::vector<Variable> one(const Variable& list, int32_t axis, bool stack) {
    return apply_op("tensor_array_to_tensor", {{"X", {list.name()}}}, {{"axis", axis}, {"use_stack", stack}},
                    {{"Out", DType::float64}, {"OutIndex", DType::int32}});
  }
};

TEST_F(ListOfTensors, BecomesOneAndSaysHowLongEachWas) {
  const auto joined = one(list(), 0, false);
  const Feed feed = rows(5);
  const auto found = run(feed, joined);
  EXPECT_TRUE(at::equal(found[0].tensor, at::cat({feed.at("first").tensor, feed.at("second").tensor})));
  EXPECT_TRUE(at::equal(found[1].tensor, at::tensor({2, 5}, at::kInt)));
}

TEST_F(ListOfTensors, IsStackedAlongANewAxis) {
  const auto stacked = one(list(), -1, true);
  EXPECT_EQ(stacked[0].shape(), (Shape{-1, 3, -1}));
  const Feed feed = rows(2);
  const auto found = run(feed, stacked);
  EXPECT_TRUE(at::equal(found[0].tensor, at::stack({feed.at("first").tensor, feed.at("second").tensor}, -1)));
  EXPECT_TRUE(at::equal(found[1].tensor, at::tensor({1, 1}, at::kInt)));
  EXPECT_THAT(refusal_of([&] { one(list(), 3, true); }), HasSubstr("axis 3 is none of the 3 of"));
}

TEST_F(ListOfTensors, WithAGapOrNoneIsNamed) {
  const Variable first = data("first", {-1, 3});
  const Variable gap = L::array_write(first, L::fill_constant({1}, kInt64, 1));
  const Feed feed = {{"first", {.tensor = at::rand({2, 3}, at::kDouble)}}};
  EXPECT_THAT(error_with(feed, [&] { return one(gap, 0, false)[0]; }), HasSubstr("has no tensor at 0"));
  EXPECT_THAT(error_with(feed, [&] { return one(first, 0, false)[0]; }), HasSubstr("'first' is no list of tensors, or has none"));
}

}  // namespace
}  // namespace argosy::engine
