#include "argosy/ps/server/gate.h"

#include <gtest/gtest.h>

#include <future>

namespace argosy::ps {
namespace {

Deadline soon() { return Deadline::after_seconds(0.05); }
Deadline patience() { return Deadline::after_seconds(30); }

TEST(Gate, LetsChangesInSideBySide) {
  Gate gate;
  EXPECT_TRUE(gate.enter());
  EXPECT_TRUE(gate.enter());
  gate.leave();
  gate.leave();
  EXPECT_TRUE(gate.close(soon()).ok());
  EXPECT_FALSE(gate.enter());
  gate.open();
  EXPECT_TRUE(gate.enter());
}

TEST(Gate, ClosesWhenEverybodyHasLeft) {
  Gate gate;
  ASSERT_TRUE(gate.enter());
  auto closes = std::async(std::launch::async, [&] { return gate.close(patience()); });
  while (gate.enter()) gate.leave();  // until it is closing
  gate.leave();
  EXPECT_TRUE(closes.get().ok());
  auto enters = std::async(std::launch::async, [&] { return gate.enter_before(patience()); });
  gate.open();
  EXPECT_TRUE(enters.get().ok());
}

// A change that hangs must not keep all others out for ever.
TEST(Gate, OpensAgainWhereSomebodyDoesNotLeave) {
  Gate gate;
  ASSERT_TRUE(gate.enter());
  EXPECT_EQ(gate.close(soon()).code(), Code::deadline_exceeded);
  EXPECT_TRUE(gate.enter());
}

TEST(Gate, WhoWaitsDoesSoUntilADeadline) {
  Gate gate;
  ASSERT_TRUE(gate.close(soon()).ok());
  EXPECT_EQ(gate.enter_before(soon()).code(), Code::deadline_exceeded);
}

}  // namespace
}  // namespace argosy::ps
