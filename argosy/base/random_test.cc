#include "argosy/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace argosy {
namespace {

// Saved tables and shuffles depend on these exact numbers.
TEST(Random, TheSequenceNeverChanges) {
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
  Random random(1);
  const uint64_t first = random();
  EXPECT_EQ(Random(1)(), first);
  EXPECT_NE(Random(2)(), first);
}

TEST(Random, KeysAreIndependent) {
  EXPECT_NE(Random(1, 2)(), Random(2, 1)());
  EXPECT_EQ(Random(1, 2)(), Random(1, 2)());
}

TEST(Random, BelowIsUniform) {
  Random random(7);
  std::array<int, 6> count{};
  for (int i = 0; i < 60000; ++i) ++count[random.below(6)];
  for (int c : count) EXPECT_NEAR(c, 10000, 500);
}

TEST(Random, NormalHasMeanZeroAndDeviationOne) {
  Random random(3);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.normal();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 1.0, 0.02);
}

}  // namespace
}  // namespace argosy
