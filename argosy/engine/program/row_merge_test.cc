#include "argosy/engine/program/row_merge.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
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
      dense[merger.index()[i]] = at::from_blob(const_cast<float*>(merger.gradients()) + i * kWidth, {kWidth}).clone();
    }
    ASSERT_TRUE(at::allclose(dense, gradient.to_dense(), 1e-5, 1e-6)) << "round " << round;
  }
}

// One number per sample, for lookups of one row per id too: by the boundaries of the ids, or equally many ids in each sample.
TEST(RowMerger, AddsUpWhatSamplesSayOfTheirIds) {
  const auto piece = [](std::vector<int64_t> ids) {
    const auto count = static_cast<int64_t>(ids.size());
    return LookupGradient::Piece{.ids = at::tensor(ids, at::kLong), .gradient = at::zeros({count, kWidth})};
  };
  LookupGradient gradient{.height = kHeight, .width = kWidth};
  gradient.pieces = {piece({3, 4, 3}), piece({4, 5, 5, 6})};
  gradient.pieces[0].samples = std::make_shared<Lod>(Lod{{0, 1, 3}});
  RowMerger merger;
  merger.merge(gradient);
  std::vector<float> sums;
  merger.add_up(gradient, std::vector<float>{1, 10}, sums);
  std::map<int64_t, float> found;
  for (size_t i = 0; i < sums.size(); ++i) found[merger.index()[i]] = sums[i];
  EXPECT_EQ(found, (std::map<int64_t, float>{{3, 11}, {4, 11}, {5, 11}, {6, 10}}));
}

// Rows that were added up where they were computed are taken as they are, also after a merge of others; but not where a factor is
// due.
TEST(RowMerger, RowsThatAreThereOnceAreNotCopied) {
  RowMerger merger;
  const at::Tensor rows = at::rand({2, kWidth});
  const LookupGradient::Piece once{.ids = at::tensor({5, 3}, at::kLong), .gradient = rows, .unique = true};
  const LookupGradient twice{.height = kHeight, .width = kWidth, .pieces = {once, once}};
  for (int round = 0; round < 2; ++round) {
    merger.merge(twice);
    EXPECT_EQ(merger.index().size(), 2u);
    EXPECT_FLOAT_EQ(merger.gradients()[0], 2 * rows[0][0].item<float>());
    merger.merge({.height = kHeight, .width = kWidth, .pieces = {once}});
    EXPECT_EQ(std::vector<int64_t>(merger.index().begin(), merger.index().end()), (std::vector<int64_t>{5, 3}));
    EXPECT_EQ(merger.gradients(), rows.const_data_ptr<float>());
    merger.merge({.height = kHeight, .width = kWidth, .pieces = {once}, .scale = 0.5f});
    EXPECT_FLOAT_EQ(merger.gradients()[0], 0.5f * rows[0][0].item<float>());
  }
}

TEST(RowMerger, NoIdsGiveNoRows) {
  RowMerger merger;
  merger.merge({.height = kHeight, .width = kWidth});
  EXPECT_TRUE(merger.index().empty());
}

}  // namespace
}  // namespace argosy::engine
