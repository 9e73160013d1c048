#include "argosy/optim/row_sums.h"

#include <gtest/gtest.h>

#include <map>

#include "argosy/base/random.h"

namespace argosy::optim {
namespace {

TEST(RowSums, KeepsTheOrderOfFirstAppearance) {
  RowSums sums;
  sums.begin(2, 4);
  const std::vector<uint64_t> keys{9, ~uint64_t{0}, 9, 0};
  const std::vector<float> values{1, 2, 3, 4, 10, 20, 5, 6};
  sums.add(keys, values.data(), 0.5f);
  EXPECT_EQ(std::vector<uint64_t>(sums.keys().begin(), sums.keys().end()), (std::vector<uint64_t>{9, ~uint64_t{0}, 0}));
  EXPECT_EQ(std::vector<float>(sums.values().begin(), sums.values().end()), (std::vector<float>{5.5, 11, 1.5, 2, 2.5, 3}));
}

TEST(RowSums, SumsStartFromZeroInEveryMerge) {
  RowSums sums;
  const std::vector<uint64_t> keys{1, 2};
  const std::vector<float> values{3, 4};
  for (int merge = 0; merge < 3; ++merge) {
    sums.begin(1, 2);
    sums.add(keys, values.data());
    EXPECT_EQ(sums.values()[0], 3) << merge;
    EXPECT_EQ(sums.values()[1], 4) << merge;
  }
}

// Any sequence of merges gives what an ordered map gives, also where a later merge is wider, larger or smaller.
TEST(RowSums, AgreesWithAMap) {
  const uint64_t seed = 20261115;
  SCOPED_TRACE(seed);
  Random random(seed);
  RowSums sums;
  for (int merge = 0; merge < 200; ++merge) {
    const size_t width = 1 + random.below(12), rows = random.below(300), range = 1 + random.below(200);
    std::vector<uint64_t> keys(rows);
    std::vector<float> values(rows * width);
    for (uint64_t& key : keys) key = random.below(range) * 0x100000000ULL;  // the low bits are all equal
    for (float& value : values) value = static_cast<float>(random.below(1000));
    std::map<uint64_t, std::vector<float>> expected;
    for (size_t i = 0; i < rows; ++i) {
      auto& row = expected.try_emplace(keys[i], width, 0.0f).first->second;
      for (size_t k = 0; k < width; ++k) row[k] += values[i * width + k];
    }
    sums.begin(width, rows);
    sums.add(keys, values.data());
    ASSERT_EQ(sums.keys().size(), expected.size());
    for (size_t slot = 0; slot < sums.keys().size(); ++slot) {
      const auto& row = expected.at(sums.keys()[slot]);
      ASSERT_TRUE(std::equal(row.begin(), row.end(), sums.row(slot)));
    }
  }
}

}  // namespace
}  // namespace argosy::optim
