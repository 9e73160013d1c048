#include "argosy/base/text.h"

#include <gtest/gtest.h>

#include "argosy/base/env.h"

namespace argosy {
namespace {

TEST(Text, SplitKeepsEmptyPartsAndJoinIsItsInverse) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("a,", ','), (std::vector<std::string>{"a", ""}));
  EXPECT_TRUE(split("", ',').empty());
  EXPECT_EQ(join(split("x:y::z", ':'), ":"), "x:y::z");
}

TEST(Text, NumbersAreWholeOrNothing) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("12x"), std::nullopt);
  EXPECT_EQ(parse_integer(""), std::nullopt);
  EXPECT_EQ(parse_number("1e-4"), 1e-4);
  EXPECT_EQ(parse_number("1.0 "), std::nullopt);
}

TEST(Text, NearestNameIsOfferedOnlyWhenItIsNear) {
  EXPECT_EQ(nearest_name("worker_nun", {"server_num", "worker_num"}), "worker_num");
  EXPECT_EQ(nearest_name("zzz", {"server_num", "worker_num"}), std::nullopt);
}

TEST(Text, Thousands) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(-1234567), "-1,234,567");
  EXPECT_EQ(with_thousands(999), "999");
}

TEST(Env, ABadValueIsNamed) {
  setenv("ARGOSY_TEST_NUMBER", "seven", 1);
  const auto result = env_integer("ARGOSY_TEST_NUMBER");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(), "environment variable ARGOSY_TEST_NUMBER='seven': expected a whole number");
  setenv("ARGOSY_TEST_NUMBER", "7", 1);
  EXPECT_EQ(**env_integer("ARGOSY_TEST_NUMBER"), 7);
  unsetenv("ARGOSY_TEST_NUMBER");
  EXPECT_FALSE(env_integer("ARGOSY_TEST_NUMBER")->has_value());
}

}  // namespace
}  // namespace argosy
