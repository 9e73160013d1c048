// Orders, places and distinct values of random tensors against the standard library.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "argosy/engine/ops/apply_op_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers.h"

namespace argosy::engine {
namespace {

namespace L = argosy::layers;
using testing::HasSubstr;
using Shape = std::vector<int64_t>;
using Outputs = std::vector<std::pair<std::string, DType>>;

class Order : public OpTest {
 protected:
  // Few different values, so that many are equal.
  static at::Tensor repeated(at::IntArrayRef shape) { return at::randint(0, 4, shape, at::kDouble); }
};

// The places of a row in order, equal ones as they stood.
std::vector<int64_t> sorted_places(const at::Tensor& row, bool descending) {
  std::vector<int64_t> places(static_cast<size_t>(row.numel()));
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
    const double left = row[a].item<double>(), right = row[b].item<double>();
    return descending ? left > right : left < right;
  });
  return places;
}

TEST_F(Order, EqualEntriesKeepTheirOrderBothWays) {
  const Variable x = data("x", {-1, 9});
  for (const bool descending : {false, true}) {
    const L::Ordered sorted = L::argsort(x, -1, descending);
    const at::Tensor values = repeated({3, 9});
    const auto found = run({{"x", {.tensor = values}}}, std::vector<Variable>{sorted.values, sorted.indices});
    for (int64_t row = 0; row < 3; ++row)
      EXPECT_TRUE(at::equal(found[1].tensor[row], longs(sorted_places(values[row], descending)))) << values[row];
    EXPECT_TRUE(at::equal(found[0].tensor, values.gather(1, found[1].tensor)));
  }
}

TEST_F(Order, TheFirstAxisIsSortedColumnByColumn) {
  const L::Ordered sorted = L::argsort(data("x", {-1, 4}), 0);
  const at::Tensor values = at::rand({6, 4}, at::kDouble);
  const auto found = run({{"x", {.tensor = values}}}, std::vector<Variable>{sorted.indices});
  for (int64_t column = 0; column < 4; ++column)
    EXPECT_TRUE(at::equal(found[0].tensor.select(1, column), longs(sorted_places(values.select(1, column), false))));
}

TEST_F(Order, TheLargestOrSmallestKAreTheHeadOfTheOrder) {
  const Variable x = data("x", {-1, 5});
  const at::Tensor values = at::randperm(20).to(at::kDouble).view({4, 5});
  for (const bool largest : {true, false}) {
    for (int32_t k = 1; k <= 4; ++k) {
      const auto best = apply_op("top_k_v2", {{"X", {x.name()}}}, {{"k", k}, {"axis", 0}, {"largest", largest}},
                                 {{"Out", DType::float64}, {"Indices", DType::int64}});
      const auto found = run({{"x", {.tensor = values}}}, best);
      for (int64_t column = 0; column < 5; ++column) {
        auto places = sorted_places(values.select(1, column), largest);
        places.resize(static_cast<size_t>(k));
        EXPECT_TRUE(at::equal(found[1].tensor.select(1, column), longs(places))) << "k " << k << ", largest " << largest;
      }
      EXPECT_TRUE(at::equal(found[0].tensor, values.gather(0, found[1].tensor)));
    }
  }
}

TEST_F(Order, MoreThanThereAreIsRefusedWhileBuildingOrRunning) {
  const Variable x = data("x", {-1, 3}), k = data("k", {1}, DType::int32);
  EXPECT_THAT(refusal_of([&] { L::topk(x, 4); }), HasSubstr("k is 4, but variable 'x' [-1, 3] has 3 entries along axis 1"));
  EXPECT_THAT(refusal_of([&] { L::topk(x, 0); }), HasSubstr("k is 0"));
  const Variable computed = L::topk(x, k).values;
  const at::Tensor values = at::rand({2, 3}, at::kDouble);
  EXPECT_THAT(error_of({{"x", {.tensor = values}}, {"k", {.tensor = at::tensor({4}, at::kInt)}}}, computed),
              HasSubstr("k is 4, but variable 'x' has 3 entries along axis -1"));
  EXPECT_EQ(run({{"x", {.tensor = values}}, {"k", {.tensor = at::tensor({3}, at::kInt)}}}, computed).size(1), 3);
}

// The place of the smallest and of the largest entry; over all entries the result has one axis.
TEST_F(Order, PlacesOfExtremes) {
  const Variable x = data("x", {-1, 4});
  const at::Tensor values = at::randperm(12).to(at::kDouble).view({3, 4});
  const Feed feed = {{"x", {.tensor = values}}};
  for (const std::string type : {"arg_max", "arg_min"}) {
    const double sign = type == "arg_max" ? -1 : 1;
    const auto place = [&](graph::AttributeMap attributes, DType dtype = DType::int64) {
      return apply_op(type, {{"X", {x.name()}}}, std::move(attributes), {{"Out", dtype}})[0];
    };
    const Variable rows = place({{"axis", int64_t{1}}}), kept = place({{"axis", int64_t{-1}}, {"keepdims", true}});
    const Variable all = place({{"flatten", true}, {"dtype", 2}}, DType::int32);
    EXPECT_EQ(rows.shape(), (Shape{-1}));
    EXPECT_EQ(kept.shape(), (Shape{-1, 1}));
    EXPECT_EQ(all.shape(), (Shape{1}));
    EXPECT_EQ(all.dtype(), DType::int32);
    const at::Tensor found = run(feed, rows);
    for (int64_t row = 0; row < 3; ++row)
      EXPECT_EQ(found[row].item<int64_t>(), sorted_places(values[row] * sign, false)[0]) << type;
    EXPECT_TRUE(at::equal(run(feed, kept).squeeze(1), found));
    EXPECT_EQ(run(feed, all).item<int32_t>(), sorted_places(values.flatten() * sign, false)[0]) << type;
  }
}

class Distinct : public Order {
 protected:
  static std::vector<Variable> unique(const Variable& x, bool sorted, std::vector<int32_t> axis = {}) {
    return apply_op("unique", {{"X", {x.name()}}}, {{"is_sorted", sorted}, {"axis", std::move(axis)}, {"dtype", 3}},
                    {{"Out", x.dtype()}, {"Index", DType::int64}, {"Indices", DType::int64}, {"Counts", DType::int64}});
  }
};

// Three facts that leave one answer: the values in their order, each entry's place among them, and how many have it.
TEST_F(Distinct, ValuesAreInOrderOfSizeOrOfOccurrence) {
  const Variable x = data("x", {-1});
  for (const bool sorted : {true, false}) {
    const at::Tensor values = repeated({25});
    const auto found = run({{"x", {.tensor = values}}}, unique(x, sorted));
    std::vector<double> expected;
    for (int64_t i = 0; i < 25; ++i) {
      const double value = values[i].item<double>();
      if (std::find(expected.begin(), expected.end(), value) == expected.end()) expected.push_back(value);
    }
    if (sorted) std::sort(expected.begin(), expected.end());
    EXPECT_TRUE(at::equal(found[0].tensor, doubles(expected))) << "sorted " << sorted;
    EXPECT_TRUE(at::equal(found[0].tensor.index_select(0, found[1].tensor), values));
    EXPECT_TRUE(at::equal(values.index_select(0, found[2].tensor), found[0].tensor));
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto place = static_cast<int64_t>(i);
      EXPECT_EQ(found[3].tensor[place].item<int64_t>(), (values == expected[i]).sum().item<int64_t>());
      EXPECT_EQ(found[2].tensor[place].item<int64_t>(), (values == expected[i]).nonzero()[0].item<int64_t>()) << "the first";
    }
  }
}

TEST_F(Distinct, RowsAndColumnsAreComparedAsAWhole) {
  const Variable x = data("x", {-1, 2});
  const at::Tensor rows = doubles({2, 1, 0, 3, 2, 1, 0, 2}).view({4, 2});
  const auto by_rows = run({{"x", {.tensor = rows}}}, unique(x, false, {0}));
  EXPECT_TRUE(at::equal(by_rows[0].tensor, doubles({2, 1, 0, 3, 0, 2}).view({3, 2})));
  EXPECT_TRUE(at::equal(by_rows[1].tensor, longs({0, 1, 0, 2})));
  EXPECT_TRUE(at::equal(by_rows[3].tensor, longs({2, 1, 1})));
  const auto by_columns = run({{"x", {.tensor = doubles({5, 5, 6, 6}).view({2, 2})}}}, unique(x, true, {1}));
  EXPECT_TRUE(at::equal(by_columns[0].tensor, doubles({5, 6}).view({2, 1})));
}

}  // namespace
}  // namespace argosy::engine
