#include "argosy/rpc/arrival_budget.h"

#include <gtest/gtest.h>

namespace argosy::rpc {
namespace {

using std::chrono::milliseconds;
const ArrivalBudget::Time kStart{};

int arrivals(ArrivalBudget& budget, const std::string& address, ArrivalBudget::Time now) {
  int count = 0;
  for (; budget.has_any(address, now); ++count) budget.charge(address, 1, now);
  return count;
}

TEST(ArrivalBudget, AllowsSoManyAtOnceAndThenSoManyPerSecond) {
  ArrivalBudget budget(10, 4);
  EXPECT_EQ(arrivals(budget, "a", kStart), 10);
  EXPECT_EQ(arrivals(budget, "a", kStart + milliseconds(500)), 2);
  EXPECT_EQ(arrivals(budget, "a", kStart + milliseconds(10'000)), 10);
}

TEST(ArrivalBudget, KeepsNobodyElseOut) {
  ArrivalBudget budget(10, 4);
  budget.charge("a", 1000, kStart);
  EXPECT_FALSE(budget.has_any("a", kStart));
  EXPECT_EQ(arrivals(budget, "b", kStart), 10);
  // Nor for ever whom it does.
  EXPECT_FALSE(budget.has_any("a", kStart + milliseconds(2500)));
  EXPECT_TRUE(budget.has_any("a", kStart + milliseconds(2750)));
}

TEST(ArrivalBudget, RemembersABoundedNumberOfAddresses) {
  ArrivalBudget budget(10, 4);
  for (int i = 0; i < 100'000; ++i) budget.charge(std::to_string(i), 5, kStart);
  EXPECT_LE(budget.addresses(), 4097u);
  EXPECT_FALSE(budget.has_any("a new one", kStart));  // shares with the others that did not fit
  EXPECT_TRUE(budget.has_any("a new one", kStart + milliseconds(60'000)));
  EXPECT_LE(budget.addresses(), 2u);
}

}  // namespace
}  // namespace argosy::rpc
