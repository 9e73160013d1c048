#include "argosy/engine/train/prefetcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <vector>

namespace argosy::engine {
namespace {

TEST(Prefetcher, GivesEveryItemInOrderAndThenNoMore) {
  int made = 0;
  Prefetcher<int> ahead("ahead", [&](int& item) -> Result<bool> { return item = ++made, made <= 100; });
  int item = 0;
  for (int i = 1; i <= 100; ++i) {
    ASSERT_TRUE(*ahead.next(item));
    EXPECT_EQ(item, i);
  }
  EXPECT_FALSE(*ahead.next(item));
  EXPECT_FALSE(*ahead.next(item)) << "and again";
}

// The second item is made while the first is used, the third is not: parameters that are older than one step are no good.
TEST(Prefetcher, IsPrefetcherAndNotMore) {
  std::atomic<int> made = 0;
  std::counting_semaphore<> done(0);
  Prefetcher<int> ahead("ahead", [&](int&) -> Result<bool> {
    ++made;
    done.release();
    return true;
  });
  int item = 0;
  for (int used = 1; used <= 50; ++used) {
    ASSERT_TRUE(*ahead.next(item));
    EXPECT_LE(made, used + 1);
  }
  for (int i = 0; i < 51; ++i) done.acquire();
  EXPECT_EQ(made, 51);
}

TEST(Prefetcher, ItemsAreUsedAgain) {
  std::vector<const int*> seen;
  Prefetcher<std::vector<int>> ahead("ahead", [&](std::vector<int>& item) -> Result<bool> {
    item.assign(3, 1);
    seen.push_back(item.data());
    return seen.size() < 10;
  });
  std::vector<int> item;
  while (*ahead.next(item)) {
  }
  for (size_t i = 2; i < seen.size(); ++i) EXPECT_EQ(seen[i], seen[i - 2]) << i;
}

TEST(Prefetcher, AnErrorComesInItsPlace) {
  int made = 0;
  Prefetcher<int> ahead("ahead", [&](int&) -> Result<bool> {
    if (++made == 3) return Status::unavailable("away");
    return true;
  });
  int item = 0;
  EXPECT_TRUE(*ahead.next(item));
  EXPECT_TRUE(*ahead.next(item));
  EXPECT_EQ(ahead.next(item).status().message(), "away");
}

TEST(Prefetcher, MayBeLeftWithAnItemThatNobodyTook) {
  Prefetcher<int> ahead("ahead", [](int&) -> Result<bool> { return true; });
  int item = 0;
  EXPECT_TRUE(*ahead.next(item));
}

}  // namespace
}  // namespace argosy::engine
