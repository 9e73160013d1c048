#include "argosy/base/wait_check.h"

#include <gtest/gtest.h>

namespace argosy {
namespace {

// Without anybody who can press a key no wait ends early; who sets a check is asked from then on.
TEST(WaitCheck, AsksWhoWasSet) {
  EXPECT_FALSE(wait_cancelled());
  set_wait_check([] { return true; });
  EXPECT_TRUE(wait_cancelled());
  set_wait_check(nullptr);
  EXPECT_FALSE(wait_cancelled());
}

}  // namespace
}  // namespace argosy
