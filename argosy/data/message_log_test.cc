#include "argosy/data/message_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/base/random.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::HasSubstr;

// The name of a range is what workers hand to each other: it says all of it.
TEST(MessageRange, IsReadBackFromItsName) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 500; ++trial) {
    MessageRange range{.brokers = "host0:9092", .topic = "clicks"};
    for (uint64_t more = random.below(3); more > 0; --more) range.brokers += fmt::format(",host{}:9092", more);
    if (random.below(2) == 0) range.topic = "a.b_c-" + std::to_string(random.below(100));
    range.partition = static_cast<int32_t>(random.below(1ull << 31));
    range.from = static_cast<int64_t>(random.below(1ull << (1 + random.below(62))));
    range.to = range.from + static_cast<int64_t>(random.below(1ull << 40));
    ASSERT_TRUE(is_message_range(range.name()));
    const auto found = parse_message_range(range.name());
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(*found, range);
    ASSERT_EQ(found->name(), range.name());
  }
}

TEST(MessageRange, MayBeEmpty) {
  const auto found = parse_message_range("kafka://h:1/t/0?from=5&to=5");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->from, found->to);
}

// Lists of files are written by people, too: what is no range is refused with what one looks like.
TEST(MessageRange, RefusesWhatIsNone) {
  for (const std::string bad : {"kafka:",
                                "kafka://",
                                "kafka:/h:1/t/0?from=1&to=2",
                                "kafka://h:1/t",
                                "kafka://h:1/t/0",
                                "kafka://h:1/t/0?from=1",
                                "kafka:///t/0?from=1&to=2",
                                "kafka://h:1//0?from=1&to=2",
                                "kafka://h:1/t/?from=1&to=2",
                                "kafka://h:1/t/x?from=1&to=2",
                                "kafka://h:1/t/-1?from=1&to=2",
                                "kafka://h:1/t/2147483648?from=1&to=2",
                                "kafka://h:1/t/0?from=2&to=1",
                                "kafka://h:1/t/0?from=-1&to=2",
                                "kafka://h:1/t/0?to=2&from=1",
                                "kafka://h:1/t/0?from=1&to=",
                                "kafka://h:1/t/0?from=&to=1",
                                "kafka://h:1/t/0?from=1&to=9223372036854775808",
                                "kafka://h:1/t/0?from=1&to=2&x=3",
                                "kafka://h:1/t/0/1?from=1&to=2",
                                "kafka://h:1/t/0&from=1?to=2",
                                "kafka://h:1/t/0?from=1.5&to=2",
                                "kafka://h:1/t/0?from=1&to=2 3"}) {
    EXPECT_TRUE(is_message_range(bad)) << bad << " is no path either";
    const auto found = parse_message_range(bad);
    ASSERT_FALSE(found.ok()) << bad;
    EXPECT_EQ(found.status().code(), Code::invalid_argument);
    EXPECT_THAT(found.status().message(), HasSubstr("'" + bad + "': expected kafka://BROKERS/TOPIC/PARTITION?from=OFFSET"));
  }
  for (const char* path : {"part-0", "/data/kafka:", "s3://kafka:1", "", "Kafka://h:1/t/0?from=1&to=2"})
    EXPECT_FALSE(is_message_range(path)) << path;
}

// A name that was damaged on the way is refused or another whole range; nothing in it is out of bounds.
TEST(MessageRange, ADamagedNameIsARangeOrAnError) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const std::string good = "kafka://host0:9092,host1:9092/clicks/12?from=345&to=6789";
  for (int trial = 0; trial < 5000; ++trial) {
    std::string bad = good;
    for (uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
      const size_t at = random.below(bad.size());
      if (random.below(2) == 0) {
        bad.erase(at, 1 + random.below(5));
      } else {
        bad[at] = "0123456789:/?&=-,kf\0 "[random.below(21)];
      }
      if (bad.empty()) break;
    }
    const auto found = parse_message_range(bad);
    if (!found.ok()) continue;
    ASSERT_TRUE(is_message_range(bad));
    ASSERT_GE(found->partition, 0);
    ASSERT_GE(found->from, 0);
    ASSERT_LE(found->from, found->to);
    ASSERT_FALSE(found->brokers.empty() || found->topic.empty());
  }
}

}  // namespace
}  // namespace argosy::data
