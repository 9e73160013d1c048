#include <cmath>

#include "argosy/engine/ops/layer_test.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/graph/layers/sequence.h"

namespace argosy::engine {
namespace {

at::Tensor pool_one(const at::Tensor& rows, const std::string& kind) {
  if (kind == "sum") return rows.sum(0);
  if (kind == "average") return rows.mean(0);
  if (kind == "sqrt") return rows.sum(0) / std::sqrt(static_cast<double>(rows.size(0)));
  if (kind == "max") return rows.amax(0);
  return kind == "first" ? rows[0] : rows[-1];
}

class SequencePool : public LayerTest, public testing::WithParamInterface<std::string> {};

// Every kind, with sequences of several lengths, of one row and of none.
TEST_P(SequencePool, PoolsEachSequence) {
  const Variable x = data("x", {-1, 3}, DType::float64, 1);
  const Variable out = layers::sequence_pool(x, GetParam(), {.pad_value = 2.5f});
  EXPECT_EQ(out.name(), "sequence_pool_0.tmp_0");
  EXPECT_EQ(out.lod_level(), 0);
  const at::Tensor rows = at::randn({8, 3}, at::kDouble);
  const std::vector<int64_t> offsets = {0, 2, 3, 3, 8};
  const Feed feed = {{"x", {.tensor = rows, .lod = lod({offsets})}}};
  const at::Tensor pooled = run(feed, out);
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    const at::Tensor expected = offsets[i] == offsets[i + 1] ? at::full({3}, 2.5, at::kDouble)
                                                             : pool_one(rows.slice(0, offsets[i], offsets[i + 1]), GetParam());
    EXPECT_TRUE(at::allclose(pooled[static_cast<int64_t>(i)], expected)) << GetParam() << " of sequence " << i;
  }
  check_gradients(out, feed, {x});
}

INSTANTIATE_TEST_SUITE_P(Kinds, SequencePool, testing::Values("sum", "average", "sqrt", "max", "first", "last"));

// Of two levels the inner one is pooled and the outer one stays.
TEST_F(LayerTest, SequencePoolKeepsTheOuterLevel) {
  const Variable out = layers::sequence_pool(data("x", {-1, 1}, DType::float64, 2), "sum");
  EXPECT_EQ(out.lod_level(), 1);
  const Value pooled = run({{"x", {.tensor = at::ones({5, 1}, at::kDouble), .lod = lod({{0, 1, 3}, {0, 2, 3, 5}})}}},
                           std::vector<Variable>{out})[0];
  EXPECT_TRUE(at::equal(pooled.tensor, at::tensor({2.0, 1.0, 2.0}, at::kDouble).unsqueeze(1)));
  ASSERT_NE(pooled.lod, nullptr);
  EXPECT_EQ(*pooled.lod, (Lod{{0, 1, 3}}));
}

TEST_F(LayerTest, SequencePoolRefusesAnUnknownKindAndPlainRows) {
  EXPECT_THROW(layers::sequence_pool(data("x", {-1, 1}, DType::float32, 1), "median"), Error);
  EXPECT_THROW(layers::sequence_pool(data("y", {-1, 1}, DType::float32, 0), "sum"), Error);
}

}  // namespace
}  // namespace argosy::engine
