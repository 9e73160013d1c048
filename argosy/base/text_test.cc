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

TEST(Text, BytesHaveUnits) {
  EXPECT_EQ(parse_bytes("4096"), 4096);
  EXPECT_EQ(parse_bytes("512M"), int64_t{512} << 20);
  EXPECT_EQ(parse_bytes("1.5GB"), int64_t{3} << 29);
  EXPECT_EQ(parse_bytes("8GiB"), int64_t{8} << 30);
  EXPECT_EQ(parse_bytes("7B"), 7);
  for (const char* wrong : {"", "G", "-1", "5X", "5MG", "1e30", "nan", "5 M"}) EXPECT_FALSE(parse_bytes(wrong)) << wrong;
}

}  // namespace
}  // namespace argosy
