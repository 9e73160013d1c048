#include <gmock/gmock.h>

#include <random>

#include "argosy/base/random.h"
#include "argosy/base/rank_info.h"

namespace argosy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SlurmHosts, WidthIsThatOfTheFirstNumber) {
  EXPECT_THAT(*slurm_hosts("n[8-11]"), ElementsAre("n8", "n9", "n10", "n11"));
  EXPECT_THAT(*slurm_hosts("n[08-11]"), ElementsAre("n08", "n09", "n10", "n11"));
  EXPECT_THAT(*slurm_hosts("n[098-101]"), ElementsAre("n098", "n099", "n100", "n101"));
  EXPECT_THAT(*slurm_hosts("[1-2]"), ElementsAre("1", "2"));
}

// Every list that Slurm could have made of some machines, in any cut into ranges, is those machines in their order.
TEST(SlurmHosts, AreThoseThatTheListWasMadeOf) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 500; ++trial) {
    std::string list;
    std::vector<std::string> expected;
    for (uint64_t parts = 1 + random.below(4); parts > 0; --parts) {
      const std::string prefix = std::string(random.below(2), 'x') + "cpu" + std::to_string(random.below(10)) + "-";
      list += (list.empty() ? "" : ",") + prefix;
      if (random.below(3) == 0) {
        expected.push_back(prefix);
        continue;
      }
      list += '[';
      uint64_t next = random.below(120);
      const size_t width = 1 + random.below(4);
      for (uint64_t ranges = 1 + random.below(3); ranges > 0; --ranges) {
        const uint64_t last = next + random.below(15);
        list += fmt::format("{:0{}}", next, width);
        if (last > next || random.below(2) == 0) list += fmt::format("-{:0{}}", last, width);
        for (; next <= last; ++next) expected.push_back(fmt::format("{}{:0{}}", prefix, next, width));
        next += random.below(3);
        list += ranges > 1 ? "," : "]";
      }
    }
    const auto found = slurm_hosts(list);
    ASSERT_TRUE(found.ok()) << list << ": " << found.status().message();
    ASSERT_EQ(*found, expected) << list;
  }
}

// The variable may say anything: a list or an error, in no time and little memory.
TEST(SlurmHosts, OfAnyTextAreAListOrAnError) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string text;
    for (uint64_t size = random.below(24); size > 0; --size) text += "0123456789a-,[] "[random.below(16)];
    const auto found = slurm_hosts(text);
    if (!found.ok()) {
      ASSERT_THAT(found.status().message(), HasSubstr("'" + text + "' is not a list of machines such as node[01-03],login"));
    } else {
      ASSERT_FALSE(found->empty()) << text;
      for (const std::string& host : *found) ASSERT_FALSE(host.empty() || host.find_first_of("[,") != std::string::npos) << text;
    }
  }
}

// The largest number there is has no next one.
TEST(SlurmHosts, TheLargestNumberIsOneMachine) {
  EXPECT_THAT(*slurm_hosts("n[9223372036854775807]"), ElementsAre("n9223372036854775807"));
  EXPECT_THAT(*slurm_hosts("n[9223372036854775806-9223372036854775807]"),
              ElementsAre("n9223372036854775806", "n9223372036854775807"));
  EXPECT_FALSE(slurm_hosts("n[0-9223372036854775807]").ok());
  EXPECT_FALSE(slurm_hosts("n[9223372036854775808]").ok());
}

TEST(SlurmHosts, MoreThanAnyClusterHasIsAMistake) {
  EXPECT_EQ(slurm_hosts("n[1-65536]")->size(), 65'536u);
  EXPECT_FALSE(slurm_hosts("n[1-65537]").ok());
  EXPECT_FALSE(slurm_hosts("n[1-40000],m[1-40000]").ok()) << "together";
}

}  // namespace
}  // namespace argosy
