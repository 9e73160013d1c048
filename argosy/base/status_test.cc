#include "argosy/base/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace argosy {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return Status::invalid_argument("{} is odd; give an even number", value);
  return value / 2;
}

Result<int> quarter(int value) {
  ASSIGN_OR_RETURN(const int once, half(value));
  return half(once);
}

TEST(Status, MessageAndCodeReachTheCaller) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).status(), Status(Code::invalid_argument, "3 is odd; give an even number"));
  EXPECT_EQ(quarter(6).status().to_string(), "invalid_argument: 3 is odd; give an even number");
}

TEST(Status, ContextGoesBeforeTheMessageAndLeavesOkAlone) {
  EXPECT_EQ(Status::not_found("row {}", 7).with_context("push {}", 3).message(), "push 3: row 7");
  EXPECT_TRUE(Status().with_context("push {}", 3).ok());
}

TEST(Result, HoldsValuesThatOnlyMove) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(ResultDeathTest, AValueThatIsNotThereIsOurBug) { EXPECT_DEATH((void)*half(3), "3 is odd"); }

}  // namespace
}  // namespace argosy
