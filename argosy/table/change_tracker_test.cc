#include "argosy/table/change_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "argosy/base/random.h"

namespace argosy::table {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<uint64_t> take(ChangeTracker& tracker, uint32_t worker, uint64_t number) {
  auto keys = tracker.take(worker, number);
  EXPECT_TRUE(keys.ok()) << keys.status().to_string();
  return std::move(keys).value();
}

// Each worker is told of each row that others changed, once for however many changes, and of none of its own.
TEST(ChangeTracker, TellsEveryoneButTheAuthor) {
  ChangeTracker tracker;
  for (const uint32_t worker : {0, 1, 2}) tracker.track(worker);
  for (int i = 0; i < 3; ++i) tracker.record(1, std::vector<uint64_t>{7, 3});
  tracker.record(2, std::vector<uint64_t>{5});
  EXPECT_THAT(take(tracker, 0, 1), ElementsAre(3, 5, 7));
  EXPECT_THAT(take(tracker, 1, 1), ElementsAre(5));
  EXPECT_THAT(take(tracker, 2, 1), ElementsAre(3, 7));
  EXPECT_THAT(take(tracker, 0, 2), IsEmpty());
}

TEST(ChangeTracker, AWorkerStartedAgainBeginsWithNothing) {
  ChangeTracker tracker;
  tracker.track(0);
  tracker.record(1, std::vector<uint64_t>{1});
  take(tracker, 0, 9);
  tracker.track(0);
  EXPECT_THAT(take(tracker, 0, 1), IsEmpty());
  tracker.forget(0);
  tracker.record(1, std::vector<uint64_t>{2});
  EXPECT_THAT(tracker.pending(), IsEmpty());
}

// After a restart from a snapshot a worker is told again of what it may not have got.
TEST(ChangeTracker, ATakenAnswerIsPendingUntilTheNextCall) {
  ChangeTracker tracker;
  tracker.track(0);
  tracker.record(1, std::vector<uint64_t>{1, 2});
  take(tracker, 0, 1);
  tracker.record(1, std::vector<uint64_t>{2, 3});
  ChangeTracker restarted;
  restarted.restore(tracker.pending());
  EXPECT_THAT(take(restarted, 0, 2), ElementsAre(1, 2, 3));
  take(tracker, 0, 2);
  ASSERT_EQ(tracker.pending().size(), 1u);
  EXPECT_THAT(tracker.pending()[0].keys, ElementsAre(2, 3));
}

// What is remembered for a worker that never asks is bounded by the number of rows, and nothing gets lost in keeping it so.
TEST(ChangeTracker, RemembersEachKeyOnce) {
  ChangeTracker tracker;
  tracker.track(0);
  Random random(3);
  std::set<uint64_t> all;
  for (int i = 0; i < 500; ++i) {
    std::vector<uint64_t> keys(100);
    for (uint64_t& key : keys) key = random.below(2000);
    all.insert(keys.begin(), keys.end());
    tracker.record(1, keys);
  }
  EXPECT_EQ(take(tracker, 0, 1), std::vector<uint64_t>(all.begin(), all.end()));
}

}  // namespace
}  // namespace argosy::table
