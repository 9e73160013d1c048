#include "argosy/base/identity.h"

#include <gtest/gtest.h>

#include <set>

namespace argosy {
namespace {

TEST(Identity, IsNeverZeroAndNeverTheSame) {
  std::set<uint64_t> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert(draw_identity());
  EXPECT_EQ(drawn.size(), 1000u);
  EXPECT_FALSE(drawn.contains(0));
}

}  // namespace
}  // namespace argosy
