#include "argosy/base/wait_check.h"

#include <gtest/gtest.h>

#include <atomic>

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

// A wait that polls every hour still ends when its time is over, or when somebody presses Ctrl-C.
TEST(WaitCheck, APauseEndsEarlyAndNeverLate) {
  Stopwatch watch;
  EXPECT_TRUE(pause_unless_cancelled(0.02, Deadline::after_seconds(3600)));
  EXPECT_GE(watch.seconds(), 0.02);
  EXPECT_TRUE(pause_unless_cancelled(3600, Deadline::after_seconds(0.02))) << "the deadline is first";
  EXPECT_TRUE(pause_unless_cancelled(3600, Deadline::after_seconds(-1)));
  static std::atomic<int> asked{0};
  set_wait_check([] { return ++asked == 3; });
  EXPECT_FALSE(pause_unless_cancelled(3600, Deadline::after_seconds(3600)));
  set_wait_check(nullptr);
  EXPECT_EQ(asked, 3);
  EXPECT_LT(watch.seconds(), 60);
}

}  // namespace
}  // namespace argosy
