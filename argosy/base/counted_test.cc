#include "argosy/base/counted.h"

#include <gtest/gtest.h>

namespace argosy {
namespace {

TEST(Counted, OneHasNoPlural) {
  EXPECT_EQ(counted(1, "worker"), "1 worker");
  EXPECT_EQ(counted(1, "pass", "passes"), "1 pass");
  EXPECT_EQ(counted(0, "worker"), "0 workers");
  EXPECT_EQ(counted(size_t{2}, "pass", "passes"), "2 passes");
  EXPECT_EQ(counted(uint64_t{1'234'567}, "row"), "1,234,567 rows");
}

}  // namespace
}  // namespace argosy
