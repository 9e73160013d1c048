#include "argosy/engine/program/row_merge.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

#include "argosy/base/random.h"

namespace argosy::engine {
namespace {

constexpr int64_t kHeight = 50, kWidth = 3;

// A lookup of random ids: pooled over ragged samples, or one id a row.
LookupGradient::Piece random_piece(Random& random, bool pooled, bool average, int64_t columns, int64_t column) {
  std::vector<int64_t> ids, offsets = {0};
  const int64_t samples = 1 + static_cast<int64_t>(random.below(20));
  for (int64_t s = 0; s < samples; ++s) {
    const uint64_t length = pooled ? random.below(4) : 1;
    for (uint64_t i = 0; i < length; ++i) ids.push_back(static_cast<int64_t>(random.below(kHeight)));
    offsets.push_back(static_cast<int64_t>(ids.size()));
  }
  LookupGradient::Piece piece{
      .ids = at::tensor(ids, at::kLong), .average = average, .gradient = at::randn({samples, columns}), .column = column};
  if (pooled) piece.lod = std::make_shared<Lod>(Lod{offsets});
  return piece;
}

TEST(RowMerger, EqualsTheDenseGradientForEveryKindOfLookup) {
  const auto seed = static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed()) + 17;
  SCOPED_TRACE(seed);
  Random random(seed);
  RowMerger merger;
  for (int round = 0; round < 200; ++round) {
    LookupGradient gradient{.height = kHeight, .width = kWidth, .scale = round % 3 == 0 ? 0.5f : 1.0f};
    for (uint64_t i = 0; i <= random.below(4); ++i) {
      gradient.pieces.push_back(
          random_piece(random, random.below(2) == 0, random.below(2) == 0, kWidth + 4, static_cast<int64_t>(random.below(5))));
      if (random.below(4) == 0) gradient.pieces.back().skip_id = 7;
    }
    merger.merge(gradient);
    const std::set<int64_t> unique(merger.index().begin(), merger.index().end());
    ASSERT_EQ(unique.size(), merger.index().size());
    at::Tensor dense = at::zeros({kHeight, kWidth});
    for (size_t i = 0; i < merger.index().size(); ++i) {
      dense[merger.index()[i]] = at::from_blob(merger.gradients() + i * kWidth, {kWidth}).clone();
    }
    ASSERT_TRUE(at::allclose(dense, gradient.to_dense(), 1e-5, 1e-6)) << "round " << round;
  }
}

TEST(RowMerger, NoIdsGiveNoRows) {
  RowMerger merger;
  merger.merge({.height = kHeight, .width = kWidth});
  EXPECT_TRUE(merger.index().empty());
}

}  // namespace
}  // namespace argosy::engine
