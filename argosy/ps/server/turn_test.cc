#include "argosy/ps/server/turn.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace argosy::ps {
namespace {

SteadyClock::time_point soon() { return Deadline::after_seconds(0.05).when(); }
SteadyClock::time_point patience() { return Deadline::after_seconds(60).when(); }

TEST(Turn, OneHasIt) {
  Turn turn;
  EXPECT_TRUE(turn.try_lock());
  EXPECT_FALSE(turn.try_lock());
  EXPECT_FALSE(turn.try_lock_until(soon())) << "a change that hangs holds others up until their deadline";
  turn.unlock();
  EXPECT_TRUE(turn.try_lock_until(soon()));
  turn.unlock();
}

TEST(Turn, FitsTheStandardLocks) {
  Turn turn;
  {
    const std::unique_lock<Turn> mine(turn, patience());
    EXPECT_TRUE(mine.owns_lock());
    const std::unique_lock<Turn> other(turn, std::try_to_lock);
    EXPECT_FALSE(other.owns_lock());
  }
  EXPECT_TRUE(turn.try_lock());
  turn.unlock();
}

// Each change comes between two others: what one of them reads has not moved when it writes.
TEST(Turn, ChangesDoNotOverlap) {
  Turn turn;
  int changes = 0, inside = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 500; ++n) {
          const std::unique_lock<Turn> mine(turn, patience());
          ASSERT_TRUE(mine.owns_lock());
          EXPECT_EQ(++inside, 1);
          ++changes;
          --inside;
        }
      });
    }
  }
  EXPECT_EQ(changes, 2000);
}

}  // namespace
}  // namespace argosy::ps
