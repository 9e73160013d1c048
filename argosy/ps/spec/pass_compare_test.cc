// What a window and a worker's ledger have in common, against plain sets; and what becomes of the sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <set>

#include "argosy/base/random.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/spec/pass_book.h"

namespace argosy::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::set<uint32_t> some_numbers(Random& random, uint32_t below, uint64_t one_in) {
  std::set<uint32_t> numbers;
  for (uint32_t i = 0; i < below; ++i) {
    if (random.below(one_in) == 0) numbers.insert(i);
  }
  return numbers;
}

// The difference is that of two sets: what the worker read with samples in it and was not told to give up, and what is here.
TEST(PassCompare, IsTheDifferenceOfTwoSets) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 3000; ++trial) {
    const uint32_t round = static_cast<uint32_t>(random.below(3));
    std::set<uint32_t> here = some_numbers(random, static_cast<uint32_t>(random.below(24)), 1 + random.below(3));
    const Window window(1, 0, std::vector<uint32_t>(here.begin(), here.end()));
    if (round < 1) continue;  // REQUIRES: the window has not left the round
    if (round > 1) here.clear();
    wire::PassLedger ledger;
    ledger.set_batches(static_cast<uint32_t>(random.below(24)));
    const auto empty = some_numbers(random, 26, 4), given_up = some_numbers(random, 26, 6);
    ledger.mutable_empty()->Add(empty.begin(), empty.end());
    ledger.mutable_given_up()->Add(given_up.begin(), given_up.end());

    std::set<uint32_t> expected;
    for (uint32_t i = 0; i < ledger.batches(); ++i) {
      if (!empty.contains(i) && !given_up.contains(i)) expected.insert(i);
    }
    std::vector<uint32_t> missing, unexpected;
    std::ranges::set_difference(expected, here, std::back_inserter(missing));
    std::ranges::set_difference(here, expected, std::back_inserter(unexpected));
    const PassDifference difference = compare(window, round, ledger);
    ASSERT_EQ(difference.missing_batches, missing) << ledger.ShortDebugString();
    ASSERT_EQ(difference.missing, missing.size());
    ASSERT_EQ(difference.unexpected_batches, unexpected) << ledger.ShortDebugString();
    ASSERT_EQ(difference.unexpected, unexpected.size());
    ASSERT_EQ(difference.any(), expected != here);
  }
}

TEST(PassCompare, AListNamesAFewPiecesAndCountsTheRest) {
  EXPECT_EQ(list_batches({}, 0), "");
  EXPECT_EQ(list_batches(std::array{7u}, 1), "7");
  std::vector<uint32_t> odd;
  for (uint32_t i = 0; i < 20; ++i) odd.push_back(2 * i + 1);
  EXPECT_EQ(list_batches(odd, 20), "1, 3, 5, 7, 9, 11, 13, 15 and 12 more");
  EXPECT_EQ(list_batches(std::array{0u, 1u, 2u, 4'294'967'295u}, 4), "0 to 2, 4294967295");
}

// A peer's window at the largest number there is: what it has, it keeps.
TEST(WindowEnds, ABatchWithTheLargestNumberIsHeldLikeAnyOther) {
  constexpr uint32_t last = std::numeric_limits<uint32_t>::max();
  const uint32_t above[] = {last};
  for (const Window& window : {Window(2, last, above), Window(2, last - 1, std::array{last - 1, last})}) {
    EXPECT_TRUE(window.contains(batch_id(2, 0)));
    EXPECT_TRUE(window.contains(batch_id(2, last)));
    EXPECT_EQ(from_wire(to_wire(window)), window);
  }
  Window window(last, 0, {});
  window.add(std::array{batch_id(last, last)});
  EXPECT_TRUE(window.contains(batch_id(last, last)));
  EXPECT_FALSE(window.contains(batch_id(last, 0)));
}

TEST(WindowEnds, WithoutBatchesNothingMatches) {
  EXPECT_EQ(Window(1, 5, {}).match({}), Window::Match::none);
  Window left(3, 2, {});
  left.leave(1);
  EXPECT_EQ(left, Window(3, 2, {})) << "a round that is long over changes nothing";
  left.leave(3);
  EXPECT_EQ(left, Window(4, 0, {}));
}

// What one window lacks of another, of the other's round, is a difference of sets.
TEST(WindowEnds, LackingIsADifferenceOfSets) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 2000; ++trial) {
    const auto ours = some_numbers(random, 16, 2), theirs = some_numbers(random, 16, 2);
    const auto our_round = static_cast<uint32_t>(random.below(3)), their_round = static_cast<uint32_t>(random.below(3));
    const Window one(our_round, 0, std::vector<uint32_t>(ours.begin(), ours.end()));
    const Window other(their_round, 0, std::vector<uint32_t>(theirs.begin(), theirs.end()));
    std::vector<uint64_t> expected;
    for (const uint32_t index : theirs) {
      if (!one.contains(batch_id(their_round, index))) expected.push_back(batch_id(their_round, index));
    }
    bool whole_rounds = their_round <= our_round;
    ASSERT_EQ(one.lacks(other, whole_rounds), expected);
    bool counted_rounds = !whole_rounds;
    ASSERT_EQ(one.count_lacking(other, counted_rounds), expected.size());
    ASSERT_EQ(counted_rounds, whole_rounds);
    ASSERT_EQ(whole_rounds, their_round > our_round);
  }
}

TEST(PassBookSums, WhatWasDroppedAndSentAgainIsAppliedOnce) {
  PassBook book;
  FileLines lines, dropped;
  lines.add(2, {1, 10});
  dropped.add(2, {4, 3});
  book.applied(1, 5, 50, lines);
  book.dropped(2, 20, dropped);
  EXPECT_EQ(book.open_samples(1), 30u);
  EXPECT_EQ(book.image().open().dropped_batches(), 2u);
  ASSERT_EQ(book.image().open().lines_size(), 2) << "lines 1 to 3 and 7 to 10";
  book.applied(1, 2, 20, dropped);
  book.sent_again(2, 20);
  EXPECT_EQ(book.open_samples(1), 50u);
  EXPECT_EQ(book.image().open().dropped_batches(), 0u);
  EXPECT_EQ(book.image().open().dropped_samples(), 0u);
  ASSERT_EQ(book.image().open().lines_size(), 1);
  EXPECT_EQ(book.image().open().lines(0).count(), 10u);
}

// More cannot be taken off a sum than is in it: a server that never had the batches drops them, too.
TEST(PassBookSums, NeverFallBelowZero) {
  PassBook book;
  book.applied(0, 1, 5);
  book.dropped(3, 50);
  EXPECT_EQ(book.open_samples(0), 0u);
  EXPECT_EQ(book.image().open().ledger().batches(), 0u);
  book.sent_again(9, 99);
  EXPECT_EQ(book.image().open().dropped_samples(), 0u);
}

TEST(PassBookSums, ANewRoundBeginsWithNothing) {
  PassBook book;
  FileLines lines;
  lines.add(0, {1, 1});
  book.applied(0, 1, 5, lines);
  book.restarted();
  book.applied(3, 2, 7);
  EXPECT_EQ(book.open_samples(0), 0u);
  EXPECT_EQ(book.open_samples(3), 7u);
  EXPECT_EQ(book.image().open().restarts(), 0u);
  EXPECT_EQ(book.image().open().lines_size(), 0);
  EXPECT_EQ(book.find(0), nullptr) << "the worker never left it";
  wire::PassLedger ledger;
  ledger.set_batches(2);
  book.left(3, ledger, 1, 4);
  ASSERT_NE(book.find(3), nullptr);
  EXPECT_EQ(book.find(3)->lost_samples(), 4u);
  EXPECT_EQ(book.image().open().round(), 4u);
}

// An image is all there is: of a book in any state, the restored one goes on as the first does.
TEST(PassBookSums, ARestoredBookGoesOnAsTheFirstDoes) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  PassBook book, other;
  uint32_t round = 0;
  for (int i = 0; i < 400; ++i) {
    const uint64_t choice = random.below(8), batches = random.below(4), samples = random.below(40), first = random.below(50);
    const auto act = [&](PassBook& one) {
      FileLines lines;
      lines.add(first % 3, {first, samples});
      wire::PassLedger ledger;
      ledger.set_batches(static_cast<uint32_t>(batches) + 1);
      if (choice < 4) one.applied(round, batches, samples, lines);
      if (choice == 4) one.dropped(batches, samples, lines);
      if (choice == 5) one.sent_again(batches, samples);
      if (choice == 6) one.restarted();
      if (choice == 7) one.left(round, ledger, batches, samples);
    };
    act(book);
    act(other);
    if (choice == 7) ++round;
    ASSERT_EQ(other.image().SerializeAsString(), book.image().SerializeAsString()) << i;
    if (random.below(5) == 0) {
      PassBook restored;
      restored.applied(0, 99, 99);
      restored.restore(other.image());
      other = restored;
    }
  }
}

TEST(PassSummaryText, SaysOnlyWhatThereIs) {
  PassSummary pass;
  pass.samples = 1'000'000;
  EXPECT_EQ(pass.text(), "1,000,000 samples read, 1,000,000 applied once, 0 lost, 0 bad lines skipped");
  PassSummary fed;
  fed.fed = true;
  fed.batches = 7;
  fed.failed_runs = 2;
  EXPECT_EQ(fed.text(), "7 runs, 7 applied once, 0 lost; 2 runs ended with an error, counted nothing");
  PassSummary odd = pass;
  odd.lines_of_lost = 1234;
  odd.lines_in_parts = 4;
  odd.unsent = 0.5;
  EXPECT_THAT(odd.text(),
              HasSubstr("; 1,234 lines of lost workers' files counted for those; 4 of these are on some servers only; "
                        "geo: differences of 0.5 in sum are not sent yet"));
}

// Two servers that have seen another part of an open pass: what counts is what both have.
TEST(OpenPassMerge, TakesTheEarlierPassAndTheFewerBatches) {
  OpenPass ahead{.worker = 1, .state = "live", .round = 3, .batches = 2, .samples = 20, .files_left = 1};
  const OpenPass behind{
      .worker = 1, .state = "lost", .round = 2, .batches = 9, .samples = 90, .lost = true, .dropped_batches = 4};
  OpenPass one = ahead, other = behind;
  merge(one, behind);
  merge(other, ahead);
  for (const OpenPass& merged : {one, other}) {
    EXPECT_EQ(merged.round, 2u);
    EXPECT_EQ(merged.samples, 90u);
    EXPECT_TRUE(merged.lost);
    EXPECT_EQ(merged.state, "lost");
    EXPECT_EQ(merged.dropped_batches, 4u);
    EXPECT_EQ(merged.files_left, 1u);
  }
}

// The order in which servers answer, and whether one answers twice, changes nothing.
TEST(JobLedgerJoin, DoesNotDependOnTheOrderOfTheServers) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<wire::LedgerReply> servers(3);
    for (wire::LedgerReply& server : servers) {
      for (uint32_t worker = 0; worker < 3; ++worker) {
        wire::WorkerLedger& one = *server.add_workers();
        one.set_worker(worker);
        one.set_state(worker == 2 ? "lost" : "live");
        for (uint32_t round = 0; round < 2; ++round) {
          wire::PassRecord& pass = *one.add_passes();
          pass.set_round(round);
          pass.mutable_ledger()->set_batches(worker + 1);
          pass.mutable_ledger()->set_samples(10 * (worker + 1));
          pass.set_lost_batches(random.below(3));
          pass.set_lost_samples(random.below(9));
        }
        one.mutable_open()->set_round(2);
        one.mutable_open()->mutable_ledger()->set_batches(1 + static_cast<uint32_t>(random.below(4)));
      }
    }
    const std::string json = join_ledgers(servers).to_json();
    std::ranges::reverse(servers);
    ASSERT_EQ(join_ledgers(servers).to_json(), json);
    servers.push_back(servers.front());
    ASSERT_EQ(join_ledgers(servers).to_json(), json) << "a server that answered twice";
  }
  EXPECT_EQ(join_ledgers({}).passes.size(), 0u);
}

}  // namespace
}  // namespace argosy::ps
