// What the small readers of text promise, at their ends: numbers, sizes, lists, addresses and variables of the environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "argosy/base/address.h"
#include "argosy/base/env.h"
#include "argosy/base/env_variable.h"
#include "argosy/base/random.h"
#include "argosy/base/rank_info.h"
#include "argosy/base/text.h"

namespace argosy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Any text but the empty one is the join of its parts, and has one part more than separators.
TEST(Words, JoinIsTheInverseOfSplit) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 500; ++round) {
    std::string text(1 + random.below(12), ' ');
    for (char& c : text) c = "ab,;"[random.below(4)];
    const auto parts = split(text, ',');
    ASSERT_EQ(join(parts, ","), text);
    ASSERT_EQ(parts.size(), static_cast<size_t>(std::ranges::count(text, ',')) + 1) << text;
  }
}

TEST(Words, TrimTakesSpaceOffBothEndsOnly) {
  EXPECT_EQ(trim(" \t\r\na b\n "), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("\va"), "\va") << "no space, tab or line end";
}

TEST(Words, IntegersAreReadToTheirEndsAndNoFurther) {
  for (const int64_t number :
       {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(parse_integer(std::to_string(number)), number);
  }
  for (const char* wrong : {"9223372036854775808", "-9223372036854775809", "+1", " 1", "1 ", "1.0", "0x10", "-", "1e3"}) {
    EXPECT_EQ(parse_integer(wrong), std::nullopt) << wrong;
  }
  for (const char* wrong : {"", "1e999", ".", "e5", "1,5", "0x1p3", "1 2"}) EXPECT_EQ(parse_number(wrong), std::nullopt) << wrong;
}

TEST(Words, SizesAreExactWhereTheyFitAndRefusedWhereTheyDoNot) {
  EXPECT_EQ(parse_bytes("0"), 0);
  int64_t unit = 1;
  for (const char* name : {"", "K", "M", "G", "T"}) {
    for (const char* end : {"", "B", "iB"}) EXPECT_EQ(parse_bytes(std::string("3") + name + end), 3 * unit) << name << end;
    unit *= 1024;
  }
  EXPECT_EQ(parse_bytes("0.5K"), 512);
  EXPECT_EQ(parse_bytes("8388608T"), std::nullopt) << "2^63";
  for (const char* wrong : {"5k", "5KK", "5P", "K5", "5 K", "0x5", "-0.5K", "5KiBB", "5BiB", "inf", "infK"}) {
    EXPECT_EQ(parse_bytes(wrong), std::nullopt) << wrong;
  }
}

TEST(Words, ThousandsAreThoseOfTheDigits) {
  EXPECT_EQ(with_thousands(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
  EXPECT_EQ(with_thousands(-999), "-999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const auto number = static_cast<int64_t>(random() >> random.below(64));
    std::string text = with_thousands(number);
    for (size_t at = text.size(), digits = 0; at-- > 0 && text[at] != '-'; ++digits) ASSERT_EQ(text[at] == ',', digits % 4 == 3);
    std::erase(text, ',');
    ASSERT_EQ(parse_integer(text), number);
  }
}

TEST(Words, TheNearestNameIsTheFirstOfTheNearest) {
  EXPECT_EQ(nearest_name("adam", {"adamax", "adam", "adamw"}), "adam");
  EXPECT_EQ(nearest_name("adan", {"adaw", "adam"}), "adaw") << "of two at the same distance the first";
  EXPECT_EQ(nearest_name("adam", {}), std::nullopt);
  EXPECT_EQ(nearest_name("", {"a", "ab"}), std::nullopt);
  EXPECT_EQ(nearest_name("ab", {"ba"}), std::nullopt) << "two edits of two letters";
  EXPECT_EQ(nearest_name("worker", {"worke", "workers", "wooorker"}), "worke") << "letters may lack, and be too many";
}

TEST(Words, AnAddressIsWhatItWasMadeOf) {
  for (const char* host : {"localhost", "10.0.0.5", "::1", "fe80::1%eth0", "node-01.cluster"}) {
    for (const int port : {1, 80, 65535}) {
      const Address address{.host = host, .port = port};
      const auto read = Address::parse(address.to_string());
      ASSERT_TRUE(read.ok()) << read.status().message();
      EXPECT_EQ(read->host, host);
      EXPECT_EQ(read->port, port);
      EXPECT_EQ(Address::parse_with_port(address.to_string())->port, port);
    }
  }
  EXPECT_EQ(Address::parse("[::1]")->host, "::1");
  EXPECT_EQ(Address::parse("host")->port, 0);
  EXPECT_EQ(Address::parse_with_port("host:0")->port, 0) << "any port";
}

TEST(Words, WhatIsNoAddressIsRefusedAndShown) {
  for (const char* wrong :
       {"", ":", ":80", "host:", "host:x", "host:-1", "host:65536", "host:+80", "host: 80", "a b:80", "::1:80", "[::1", "::1]:80",
        "[]:80", "[]", "http://host:80", "host:80:90", "host:99999999999999999999"}) {
    const auto read = Address::parse_with_port(wrong);
    ASSERT_FALSE(read.ok()) << wrong << " is " << read->to_string();
    EXPECT_THAT(read.status().message(), HasSubstr("'" + std::string(wrong) + "'"));
  }
  EXPECT_THAT(Address::parse("host:0").status().message(), HasSubstr("'host:0' has port 0"));
  EXPECT_THAT(Address::parse("").status().message(), HasSubstr("'' has no host"));
}

// Written the other way round: what is packed is unpacked again, with the width of the first number.
TEST(Words, SlurmsListsOfMachinesAreUnpacked) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> expected, parts;
    for (size_t part = 1 + random.below(4); part > 0; --part) {
      const std::string prefix(1 + random.below(3), static_cast<char>('a' + random.below(26)));
      if (random.below(3) == 0) {
        expected.push_back(prefix);
        parts.push_back(prefix);
        continue;
      }
      std::vector<std::string> ranges;
      for (size_t range = 1 + random.below(3); range > 0; --range) {
        const uint64_t first = random.below(1100), last = first + random.below(4), width = 1 + random.below(5);
        const auto padded = [&](uint64_t number) { return fmt::format("{:0{}}", number, width); };
        const size_t digits = padded(first).size();
        for (uint64_t i = first; i <= last; ++i) expected.push_back(fmt::format("{}{:0{}}", prefix, i, digits));
        ranges.push_back(first == last && random.below(2) == 0 ? padded(first) : padded(first) + "-" + padded(last));
      }
      parts.push_back(prefix + "[" + join(ranges, ",") + "]");
    }
    const auto found = slurm_hosts(join(parts, ","));
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(*found, expected) << join(parts, ",");
  }
  EXPECT_EQ(slurm_hosts("n[0-65535]")->size(), 65536u);
  EXPECT_THAT(slurm_hosts("n[1-2").status().message(), HasSubstr("'n[1-2' is not a list of machines"));
}

// A variable of the environment while the test runs.
class Variable {
 public:
  explicit Variable(const char* value) { ::setenv(kName, value, 1); }
  ~Variable() { ::unsetenv(kName); }
  static constexpr const char* kName = "ARGOSY_TEST_WORD";
};

TEST(Variables, AFlagHasTheWordsOfAFlag) {
  for (const char* yes : {"1", "true", "yes", "on"}) {
    const Variable set(yes);
    EXPECT_EQ(*env_flag(Variable::kName), true) << yes;
  }
  for (const char* no : {"0", "false", "no", "off"}) {
    const Variable set(no);
    EXPECT_EQ(*env_flag(Variable::kName), false) << no;
  }
  for (const char* wrong : {"2", "TRUE!", "ja", " 1"}) {
    const Variable set(wrong);
    EXPECT_EQ(env_flag(Variable::kName).status().message(),
              fmt::format("environment variable ARGOSY_TEST_WORD='{}': expected 1, 0, true or false", wrong));
  }
  EXPECT_FALSE(env_flag(Variable::kName)->has_value());
  const Variable set("1.5");
  EXPECT_EQ(*env_number(Variable::kName), 1.5);
  EXPECT_FALSE(env_integer(Variable::kName).ok());
}

TEST(Variables, OneThatIsBlankCountsAsAbsent) {
  EXPECT_FALSE(variable(Variable::kName).has_value());
  for (const char* blank : {"", " ", "\t\n"}) {
    const Variable set(blank);
    EXPECT_FALSE(variable(Variable::kName).has_value());
  }
  const Variable set(" a, b ,,c ");
  EXPECT_EQ(variable(Variable::kName)->to_string(), "ARGOSY_TEST_WORD='a, b ,,c'");
  EXPECT_THAT(list_of(*variable(Variable::kName)), ElementsAre("a", "b", "", "c"));
}

TEST(Variables, NumbersAreInTheirRangeOrNamed) {
  const auto said = [](const char* value) { return EnvVariable{"RANK", value}; };
  EXPECT_EQ(*whole_number(said("3"), 3), 3);
  EXPECT_EQ(*whole_number(said("2147483647"), 0), 2147483647);
  for (const char* wrong : {"2", "2147483648", "-1", "x", ""}) {
    EXPECT_EQ(whole_number(said(wrong), 3).status().message(),
              fmt::format("environment variable RANK='{}': expected a whole number from 3", wrong));
  }
  EXPECT_EQ(*index_below(said("0"), 1, "workers"), 0);
  EXPECT_EQ(index_below(said("4"), 4, "workers").status().message(),
            "environment variable RANK='4': there are 4 workers, numbered from 0");
  EXPECT_FALSE(index_below(said("0"), 0, "workers").ok());
  EXPECT_EQ(contradiction(said("1"), {"PMI_RANK", "2"}).message(),
            "environment variables RANK='1' and PMI_RANK='2' contradict each other");
}

}  // namespace
}  // namespace argosy
