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
  auto taken = tracker.take(worker, number, 1'000'000);
  EXPECT_TRUE(taken.ok()) << taken.status().to_string();
  EXPECT_FALSE(taken->more);
  return std::move(taken->keys);
}

// An answer holds so many keys; the rest waits for the next number, and a repeated number gets the same ones.
TEST(ChangeTracker, GivesNoMoreThanIsAskedFor) {
  ChangeTracker tracker;
  tracker.track(0);
  tracker.record(1, std::vector<uint64_t>{5, 4, 3, 2, 1});
  for (int tries = 0; tries < 2; ++tries) {
    const auto first = tracker.take(0, 1, 2);
    EXPECT_THAT(first->keys, ElementsAre(1, 2));
    EXPECT_TRUE(first->more);
  }
  tracker.record(1, std::vector<uint64_t>{1});
  EXPECT_THAT(tracker.take(0, 2, 2)->keys, ElementsAre(1, 3));
  EXPECT_THAT(tracker.pending()[0].keys(), ElementsAre(1, 3, 4, 5));
  EXPECT_THAT(take(tracker, 0, 3), ElementsAre(4, 5));
  EXPECT_THAT(take(tracker, 0, 4), IsEmpty());
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
  restarted.restore({{0, tracker.pending()[0].keys()}});
  EXPECT_THAT(take(restarted, 0, 2), ElementsAre(1, 2, 3));
  take(tracker, 0, 2);
  ASSERT_EQ(tracker.pending().size(), 1u);
  EXPECT_THAT(tracker.pending()[0].keys(), ElementsAre(2, 3));
}

// A snapshot is written while workers go on: it has the keys of its moment, each once, and the tracker loses none by it.
TEST(ChangeTracker, WhatASnapshotWasShownStaysAsItWas) {
  ChangeTracker tracker;
  tracker.track(0);
  std::vector<ChangeTracker::Pending> shown;
  std::vector<std::vector<uint64_t>> expected;
  std::vector<uint64_t> keys;
  for (uint64_t round = 0; round < 50; ++round) {
    std::vector<uint64_t> some(1000);
    for (uint64_t i = 0; i < some.size(); ++i) some[i] = (round * 700 + i) % 20000;  // some of them again, and past kSmall
    tracker.record(1, some);
    keys.insert(keys.end(), some.begin(), some.end());
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    if (round % 3 != 0) continue;
    shown.push_back(tracker.pending().at(0));
    expected.push_back(keys);
  }
  EXPECT_EQ(take(tracker, 0, 1), keys);
  tracker.record(1, std::vector<uint64_t>{99999});
  for (size_t i = 0; i < shown.size(); ++i) EXPECT_EQ(shown[i].keys(), expected[i]) << i;
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
