#include "argosy/ps/state/limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "argosy/base/random.h"
#include "argosy/base/thread.h"
#include "argosy/ps/state/name_count.h"

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(Limit, ARefusalNamesTheLimitItsValueAndWhatToDo) {
  Limit limit("parked_limit", 10, "bytes", "wait for others");
  ASSERT_TRUE(limit.take(7).ok());
  const Status refused = limit.take(4);
  EXPECT_EQ(refused.code(), Code::resource_exhausted);
  EXPECT_EQ(refused.message(),
            "the limit parked_limit is reached: 10 bytes at most, 7 are there and 4 more were asked for; wait for others");
  EXPECT_EQ(limit.refused(), 1u);
  EXPECT_EQ(limit.now(), 7u) << "what was refused was not taken";
  EXPECT_TRUE(limit.take(3).ok()) << "the last that fit";
  EXPECT_FALSE(limit.take(1).ok());
  EXPECT_TRUE(limit.take(0).ok()) << "nothing fits into a full one";
  limit.give_back(10);
  EXPECT_EQ(limit.now(), 0u);
  EXPECT_EQ(limit.refused(), 2u);
}

// A peer asks for a number that would wrap around.
TEST(Limit, NumbersDoNotWrapAround) {
  const Limit limit("x", 10, "rows", "");
  EXPECT_FALSE(limit.fits(5, kMost));
  EXPECT_FALSE(limit.fits(5, kMost - 4)) << "5 + this is 0";
  EXPECT_FALSE(limit.fits(kMost, 1));
  EXPECT_FALSE(limit.fits(11, 0)) << "there is too much already";
  EXPECT_TRUE(limit.fits(10, 0));
  const Limit none("x", kMost, "rows", "");
  EXPECT_TRUE(none.fits(5, kMost - 5));
  EXPECT_FALSE(none.fits(5, kMost - 4));
}

TEST(Limit, ThreadsTogetherNeverTakeMoreThanThereIs) {
  Limit limit("x", 100, "rows", "");
  const auto work = [&](uint64_t seed) {
    return [&limit, seed] {
      Random random(seed);
      uint64_t held = 0;
      for (int i = 0; i < 20'000; ++i) {
        const uint64_t some = 1 + random.below(30);
        if (random.below(2) == 0 && limit.take(some).ok()) held += some;
        if (limit.now() > 100) ADD_FAILURE() << limit.now();
        if (held > 0 && random.below(2) == 0) limit.give_back(std::exchange(held, 0));
      }
      limit.give_back(held);
    };
  };
  {
    Thread one("take-1", work(1)), two("take-2", work(2)), three("take-3", work(3));
  }
  EXPECT_EQ(limit.now(), 0u) << "what was taken was given back";
}

// Those who keep things by names share one count, so that one limit holds for all of them together.
TEST(NameCount, OneMoreFitsUntilTheLimit) {
  Limit limit("names", 2, "names", "use fewer");
  NameCount names(&limit);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(names.check_room().ok());
    names.add();
  }
  EXPECT_THAT(names.check_room().message(), HasSubstr("the limit names is reached: 2 names at most"));
  EXPECT_EQ(limit.refused(), 1u);
  EXPECT_EQ(limit.now(), 0u) << "told only when it is measured";
  names.measure();
  EXPECT_EQ(limit.now(), 2u);
  names.remove(2);
  EXPECT_TRUE(names.check_room().ok());
  NameCount unlimited(nullptr);
  for (int i = 0; i < 1000; ++i) unlimited.add();
  unlimited.measure();
  EXPECT_TRUE(unlimited.check_room().ok());
  EXPECT_EQ(unlimited.count(), 1000u);
}

}  // namespace
}  // namespace argosy::ps
