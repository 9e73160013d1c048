#include "argosy/ps/server/observers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace argosy::ps {
namespace {

using testing::HasSubstr;

TEST(Observers, GetANumberThatNoWorkerHas) {
  Limit limit("observers", 10, "callers", "end some of them");
  Observers observers(limit);
  std::set<uint64_t> numbers;
  for (uint64_t process = 1; process <= 5; ++process) {
    const auto number = observers.hello(process);
    ASSERT_TRUE(number.ok());
    EXPECT_TRUE(Observers::is_number(*number)) << "the highest bit tells it from an incarnation";
    EXPECT_TRUE(observers.knows(*number));
    numbers.insert(*number);
  }
  EXPECT_EQ(numbers.size(), 5u);
  EXPECT_EQ(limit.now(), 5u);
  EXPECT_FALSE(Observers::is_number(17));
}

// A Hello whose answer was lost comes again.
TEST(Observers, AHelloThatIsRepeatedGetsTheSameNumber) {
  Limit limit("observers", 1, "callers", "end some of them");
  Observers observers(limit);
  const uint64_t first = *observers.hello(7);
  EXPECT_EQ(*observers.hello(7), first);
  EXPECT_EQ(limit.now(), 1u);
  EXPECT_EQ(limit.refused(), 0u);
}

// One that was heard of a moment ago keeps its place.
TEST(Observers, MoreThanTheLimitAreRefused) {
  Limit limit("observers", 2, "callers", "end some of them");
  Observers observers(limit);
  const uint64_t first = *observers.hello(1);
  ASSERT_TRUE(observers.hello(2).ok());
  const Status refused = observers.hello(3).status();
  EXPECT_EQ(refused.code(), Code::resource_exhausted);
  EXPECT_THAT(refused.message(), HasSubstr("observers"));
  EXPECT_EQ(limit.refused(), 1u);
  EXPECT_TRUE(observers.knows(first));
}

// Of another server, or of the process before this one.
TEST(Observers, ANumberThatWasNotGivenOutIsNotKnown) {
  Limit limit("observers", 2, "callers", "end some of them");
  Observers observers(limit);
  EXPECT_FALSE(observers.knows(uint64_t{1} << 63));
}

}  // namespace
}  // namespace argosy::ps
