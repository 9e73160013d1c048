// Slices by random bounds against Python's rule, walked entry by entry; what was declared must hold of what a run gives.
#include <gmock/gmock.h>

#include "argosy/engine/ops/apply_op_test.h"

namespace argosy::engine {
namespace {

using testing::HasSubstr;
using Shape = std::vector<int64_t>;
using Numbers = std::vector<int32_t>;

Variable cut(const char* type, const Variable& x, Numbers axes, Numbers starts, Numbers ends, graph::AttributeMap more = {}) {
  more.insert({{"axes", std::move(axes)}, {"starts", std::move(starts)}, {"ends", std::move(ends)}});
  return apply_op(type, {{"Input", {x.name()}}}, std::move(more))[0];
}

// The entries of range(size)[start:end:step], by Python's definition.
std::vector<int64_t> python_slice(int64_t size, int64_t start, int64_t end, int64_t step) {
  const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  const auto bound = [&](int64_t place) {
    if (place < 0) place += size;
    return place < lowest ? lowest : place > highest ? highest : place;
  };
  std::vector<int64_t> taken;
  for (int64_t i = bound(start); step > 0 ? i < bound(end) : i > bound(end); i += step) taken.push_back(i);
  return taken;
}

class Slices : public OpTest {
 protected:
  int32_t drawn(int32_t low, int32_t high) { return std::uniform_int_distribution<int32_t>(low, high)(random_); }
  std::mt19937_64 random_{seed_};
};

TEST_F(Slices, TakeWhatPythonTakes) {
  const Variable x = data("x", {6, -1});
  const at::Tensor values = at::rand({6, 5}, at::kDouble);
  const Feed feed = {{"x", {.tensor = values}}};
  for (int i = 0; i < 60; ++i) {
    const Numbers starts = {drawn(-9, 9), drawn(-9, 9)}, ends = {drawn(-9, 9), drawn(-9, 9)};
    const Numbers steps = {drawn(1, 3), drawn(0, 1) == 0 ? -drawn(1, 3) : drawn(1, 7)};
    const Variable out = cut("strided_slice", x, {0, 1}, starts, ends, {{"strides", steps}});
    const at::Tensor found = run(feed, out);
    const at::Tensor expected = values.index_select(0, longs(python_slice(6, starts[0], ends[0], steps[0])))
                                    .index_select(1, longs(python_slice(5, starts[1], ends[1], steps[1])));
    EXPECT_TRUE(at::equal(found, expected)) << testing::PrintToString(starts) << testing::PrintToString(ends)
                                            << testing::PrintToString(steps);
    check_declared(out, found);
  }
}

TEST_F(Slices, WithoutStepsAreTheSame) {
  const Variable x = data("x", {4, 5, 3});
  const at::Tensor values = at::rand({4, 5, 3}, at::kDouble);
  const Feed feed = {{"x", {.tensor = values}}};
  for (int i = 0; i < 40; ++i) {
    const int32_t start = drawn(-7, 7), end = drawn(-7, 7);
    const Variable out = cut("slice", x, {1}, {start}, {end});
    const at::Tensor found = run(feed, out);
    EXPECT_TRUE(at::equal(found, values.index_select(1, longs(python_slice(5, start, end, 1))))) << start << ":" << end;
    check_declared(out, found);
  }
  check_gradients(cut("slice", x, {0, 2}, {1, -2}, {3, 9}), feed, {x});
}

// x[i] takes one entry and drops its axis; x[-1] is written as -1 to 0.
TEST_F(Slices, OneEntryDropsItsAxis) {
  const Variable x = data("x", {4, 5});
  const at::Tensor values = at::rand({4, 5}, at::kDouble);
  const Feed feed = {{"x", {.tensor = values}}};
  for (int32_t i = -4; i < 4; ++i) {
    const Variable row = cut("slice", x, {0}, {i}, {i + 1}, {{"decrease_axis", Numbers{0}}});
    EXPECT_EQ(row.shape(), (Shape{5}));
    EXPECT_TRUE(at::equal(run(feed, row), values.select(0, i))) << i;
  }
  const Variable entry = cut("slice", x, {0, 1}, {2, -1}, {3, 0}, {{"decrease_axis", Numbers{0, 1}}});
  EXPECT_EQ(entry.shape(), (Shape{1})) << "programs have no tensors without axes";
  EXPECT_EQ(run(feed, entry).item<double>(), values[2][4].item<double>());
}

TEST_F(Slices, AnIndexOutsideIsNamedByTheRun) {
  const Variable x = data("x", {-1, 5});
  const Feed feed = {{"x", {.tensor = at::rand({4, 5}, at::kDouble)}}};
  for (const int32_t i : {4, -5}) {
    const auto row = [&] { return cut("slice", x, {0}, {i}, {i + 1}, {{"decrease_axis", Numbers{0}}}); };
    EXPECT_THAT(error_with(feed, row),
                HasSubstr("index " + std::to_string(i) + " is outside variable 'x', which has 4 entries along axis 0"));
  }
}

TEST_F(Slices, BoundsThatOnlyARunKnowsAreDeclaredAsUnknown) {
  const Variable x = data("x", {4, 5}), start = data("start", {1}, DType::int32);
  const Variable out = apply_op("slice", {{"Input", {x.name()}}, {"StartsTensorList", {start.name()}}},
                                {{"axes", Numbers{1}}, {"starts", Numbers{-1}}, {"ends", Numbers{5}}})[0];
  EXPECT_EQ(out.shape(), (Shape{4, -1}));
  const at::Tensor values = at::rand({4, 5}, at::kDouble);
  const Feed feed = {{"x", {.tensor = values}}, {"start", {.tensor = at::tensor({3}, at::kInt)}}};
  EXPECT_TRUE(at::equal(run(feed, out), values.slice(1, 3)));
}

TEST_F(Slices, ListsOfDifferentLengthsAndStepsOfNothingAreRefused) {
  const Variable x = data("x", {4, 5});
  EXPECT_THAT(refusal_of([&] { cut("slice", x, {0, 1}, {0}, {1, 2}); }), HasSubstr("1 starts, 2 ends and 2 strides for 2 axes"));
  EXPECT_THAT(refusal_of([&] { cut("strided_slice", x, {0}, {0}, {4}, {{"strides", Numbers{0}}}); }),
              HasSubstr("variable 'x': the stride along axis 0 is 0"));
  EXPECT_THAT(refusal_of([&] { cut("slice", x, {2}, {0}, {1}); }),
              HasSubstr("axis 2 is outside variable 'x' [4, 5], which has 2 dimensions"));
}

}  // namespace
}  // namespace argosy::engine
