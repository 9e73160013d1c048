#include "argosy/ps/client/row_residuals.h"

#include <gtest/gtest.h>

namespace argosy::ps {
namespace {

std::vector<float> kept(const RowResiduals& residuals, uint64_t key) {
  std::vector<float> row = {0, 0};
  residuals.add_to(std::span(&key, 1), row);
  return row;
}

TEST(RowResiduals, AreAddedToTheirRowsAndReplaced) {
  RowResiduals residuals(2, 100);
  const std::vector<uint64_t> keys = {7, 8};
  residuals.keep(keys, std::vector<float>{1, 2, 3, 4});
  std::vector<float> rows = {10, 10, 20, 20, 30, 30};
  residuals.add_to(std::vector<uint64_t>{8, 9, 7}, rows);
  EXPECT_EQ(rows, (std::vector<float>{13, 14, 20, 20, 31, 32}));
  residuals.keep(std::vector<uint64_t>{8}, std::vector<float>{-1, 0});
  EXPECT_EQ(kept(residuals, 8), (std::vector<float>{-1, 0}));
  EXPECT_EQ(kept(residuals, 7), (std::vector<float>{1, 2}));
  EXPECT_EQ(residuals.rows(), 2u);
}

// Ten thousand keys through room for a hundred: the newest are there, the number that was dropped is exact, and no more are held.
TEST(RowResiduals, HoldTheNewestAndCountWhatTheyDrop) {
  RowResiduals residuals(2, 100);
  for (uint64_t key = 0; key < 10'000; ++key) {
    residuals.keep(std::span(&key, 1), std::vector<float>{static_cast<float>(key), 1});
    ASSERT_LE(residuals.rows(), 100u);
  }
  EXPECT_EQ(residuals.rows() + residuals.dropped(), 10'000u);
  for (uint64_t key = 9'951; key < 10'000; ++key)
    ASSERT_EQ(kept(residuals, key), (std::vector<float>{static_cast<float>(key), 1}));
  EXPECT_EQ(kept(residuals, 5), (std::vector<float>{0, 0}));
}

// A row that keeps coming is never dropped.
TEST(RowResiduals, ARowThatKeepsComingStays) {
  RowResiduals residuals(1, 10);
  const uint64_t often = 1'000'000;
  for (uint64_t key = 0; key < 1000; ++key) {
    residuals.keep(std::span(&key, 1), std::vector<float>{1});
    residuals.keep(std::span(&often, 1), std::vector<float>{static_cast<float>(key) + 1});
  }
  EXPECT_FLOAT_EQ(kept(residuals, often)[0], 1000);
}

}  // namespace
}  // namespace argosy::ps
