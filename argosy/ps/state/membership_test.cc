#include "argosy/ps/state/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>

#include "argosy/base/random.h"
#include "argosy/base/thread.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Phase = Membership::Phase;

constexpr auto kGo = Membership::Admission::go;
constexpr auto kDuplicate = Membership::Admission::duplicate;

// A push of these batches of round 1, begun and applied.
void push(Membership& members, int worker, std::vector<uint32_t> indices, uint64_t samples = 10) {
  std::vector<uint64_t> batches;
  for (const uint32_t index : indices) batches.push_back(batch_id(1, index));
  const auto begun = members.begin_push(worker, members.worker(worker).incarnation, batches);
  ASSERT_TRUE(begun.ok()) << begun.status().message();
  members.end_push(worker, batches, true, samples);
}

wire::PassLedger ledger_of(uint32_t batches, uint64_t samples, std::vector<uint32_t> empty = {}) {
  wire::PassLedger ledger;
  ledger.set_batches(batches);
  ledger.set_samples(samples);
  ledger.mutable_empty()->Add(empty.begin(), empty.end());
  return ledger;
}

// ---- Incarnations.

TEST(Membership, OnlyTheNewestIncarnationIsHeard) {
  Membership members(2);
  EXPECT_EQ(members.worker(0).phase, Phase::not_seen);
  EXPECT_EQ(members.hello(0, 71, "host:71"), 1u);
  EXPECT_TRUE(members.check(0, 1).ok());
  EXPECT_EQ(members.hello(0, 72, "host:72"), 2u);
  EXPECT_TRUE(members.check(0, 2).ok());
  const Status older = members.check(0, 1);
  EXPECT_EQ(older.code(), Code::aborted);
  EXPECT_EQ(older.message(), "fenced off: worker 0 was started again, as host:72; this is incarnation 1, the newest is 2");
  EXPECT_EQ(members.check_fence(0, 1), older);
  const Status newer = members.check(0, 3);
  EXPECT_EQ(newer.code(), Code::failed_precondition);
  EXPECT_THAT(newer.message(), HasSubstr("incarnation 3 of worker 0 is not known here"));
  EXPECT_EQ(members.check(1, 1).code(), Code::failed_precondition) << "one that never came";
  const Status nobody = members.check(2, 1);
  EXPECT_EQ(nobody.code(), Code::invalid_argument);
  EXPECT_EQ(nobody.message(), "there is no worker 2; the job has 2");
  EXPECT_EQ(members.check(~uint64_t{0}, 1).code(), Code::invalid_argument);
}

TEST(Membership, AHelloIsNewUnlessTheSameProcessLives) {
  Membership members(1);
  EXPECT_TRUE(members.is_new(0, 0)) << "nobody has come, whatever the number";
  members.hello(0, 7, "host:7");
  EXPECT_FALSE(members.is_new(0, 7));
  EXPECT_TRUE(members.is_new(0, 8));
  members.goodbye(0);
  EXPECT_TRUE(members.is_new(0, 7)) << "it trains again after its goodbye";
  members.hello(0, 7, "host:7");
  members.lose(0);
  EXPECT_TRUE(members.is_new(0, 7));
}

// The log has lost a hello that a process before gave an incarnation for: the caller is taken for who it says.
TEST(Membership, AdoptsOnlyWhatIsNewer) {
  Membership members(1);
  members.hello(0, 7, "host:7");
  EXPECT_FALSE(members.adopt(0, 1));
  EXPECT_FALSE(members.adopt(1, 9)) << "there is no such worker";
  members.lose(0);
  EXPECT_TRUE(members.adopt(0, 3));
  EXPECT_EQ(members.worker(0).phase, Phase::live);
  EXPECT_TRUE(members.check(0, 3).ok());
  EXPECT_EQ(members.check(0, 1).code(), Code::aborted);
  EXPECT_TRUE(members.is_new(0, 7)) << "which process it is, is not known";
  EXPECT_EQ(members.hello(0, 8, "host:8"), 4u);
}

TEST(Membership, WhoHasComparedIsForgottenWithTheIncarnation) {
  Membership members(1);
  members.hello(0, 7, "host:7");
  bool compared = true;
  ASSERT_TRUE(members.check(0, 1, &compared).ok());
  EXPECT_FALSE(compared);
  members.compared(0, 1);
  ASSERT_TRUE(members.check(0, 1, &compared).ok());
  EXPECT_TRUE(compared);
  members.hello(0, 8, "host:8");
  ASSERT_TRUE(members.check(0, 2, &compared).ok());
  EXPECT_FALSE(compared) << "the next process has not";
}

// ---- Pushes.

TEST(Membership, APushIsAdmittedOnce) {
  Membership members(1);
  members.hello(0, 7, "host:7");
  const std::array batches{batch_id(1, 0), batch_id(1, 1)};
  ASSERT_EQ(*members.begin_push(0, 1, batches), kGo);
  EXPECT_FALSE(members.is_quiet(0));
  const auto again = members.begin_push(0, 1, std::array{batch_id(1, 1)});
  EXPECT_EQ(again.status().code(), Code::unavailable) << "a retry while the first is under way";
  members.end_push(0, batches, false);
  EXPECT_TRUE(members.is_quiet(0));
  ASSERT_EQ(*members.begin_push(0, 1, batches), kGo) << "it was not applied";
  members.end_push(0, batches, true, 20);
  EXPECT_EQ(*members.begin_push(0, 1, batches), kDuplicate);
  EXPECT_TRUE(members.is_quiet(0)) << "a duplicate is not under way";
  const auto some = members.begin_push(0, 1, std::array{batch_id(1, 1), batch_id(1, 2)});
  EXPECT_EQ(some.status().code(), Code::internal);
  EXPECT_EQ(some.status().message(),
            "a push of worker 0 has batch 1 of round 1, which is here, and batch 2 of round 1, which is not");
  EXPECT_TRUE(members.is_quiet(0));
}

// From the moment of a hello no push of the process before begins, and what it had begun may still end.
TEST(Membership, APushThatBeganBeforeAHelloEndsAndNoOtherBegins) {
  Membership members(1);
  members.hello(0, 7, "host:7");
  const std::array first{batch_id(0, 0)}, second{batch_id(0, 1)};
  ASSERT_EQ(*members.begin_push(0, 1, first), kGo);
  members.hello(0, 8, "host:8");
  EXPECT_EQ(members.begin_push(0, 1, second).status().code(), Code::aborted);
  EXPECT_FALSE(members.is_quiet(0));
  members.end_push(0, first, true);
  EXPECT_TRUE(members.is_quiet(0));
  EXPECT_EQ(members.worker(0).window.through(), 1u);
  EXPECT_EQ(*members.begin_push(0, 2, first), kDuplicate);
}

// Many threads push the same batches: each is applied once, and the window is all of it.
TEST(Membership, EachBatchIsAppliedOnceWhoeverSendsIt) {
  constexpr uint32_t kBatches = 200;
  Membership members(1);
  members.hello(0, 7, "host:7");
  std::atomic<uint32_t> applied = 0, duplicates = 0;
  const auto send_all = [&] {
    for (uint32_t i = 0; i < kBatches;) {
      const std::array batch{batch_id(0, i)};
      const auto admitted = members.begin_push(0, 1, batch);
      if (!admitted.ok()) continue;  // under way
      if (*admitted == kGo) ++applied, members.end_push(0, batch, true, 1);
      if (*admitted == kDuplicate) ++duplicates;
      ++i;
    }
  };
  {
    Thread one("push-1", send_all), two("push-2", send_all), three("push-3", send_all);
  }
  EXPECT_EQ(applied.load(), kBatches);
  EXPECT_EQ(duplicates.load(), 2 * kBatches);
  EXPECT_EQ(members.worker(0).window.through(), kBatches);
  EXPECT_EQ(members.ledger(0).open().ledger().samples(), kBatches);
}

// ---- Losses.

TEST(Membership, ALostWorkerIsRefusedUntilItComesAgain) {
  Membership members(2);
  members.hello(0, 7, "host:7");
  members.lose(0);
  EXPECT_TRUE(members.is_lost(0));
  EXPECT_FALSE(members.is_awaited(0));
  EXPECT_TRUE(members.is_awaited(1)) << "one that has not come is waited for";
  EXPECT_THAT(members.check(0, 1).message(), HasSubstr("worker 0 was silent for too long"));
  EXPECT_EQ(members.begin_push(0, 1, std::array{batch_id(0, 0)}).status().code(), Code::aborted);
  EXPECT_EQ(members.hello(0, 8, "host:8"), 2u);
  EXPECT_TRUE(members.is_awaited(0));
}

// A batch of a lost worker that not all servers have counts as given up until somebody sends it again.
TEST(Membership, WhatWasGivenUpIsNotLackingAndMayComeAgain) {
  Membership members(1);
  members.hello(0, 7, "host:7");
  push(members, 0, {0, 1, 2}, 30);
  members.lose(0);
  members.give_up(0, std::array{batch_id(1, 2)}, 10);
  EXPECT_EQ(members.worker(0).window.through(), 2u);
  EXPECT_EQ(members.worker(0).given_up, std::set<uint64_t>{batch_id(1, 2)});
  EXPECT_EQ(members.ledger(0).open().ledger().samples(), 20u);

  bool whole_rounds = true;
  const Window expected(1, 5, {});
  EXPECT_EQ(members.lacking(0, expected, whole_rounds), 0u) << "nobody can send a lost worker's batches";
  EXPECT_FALSE(whole_rounds);
  members.hello(0, 8, "host:8");
  EXPECT_EQ(members.lacking(0, expected, whole_rounds), 2u) << "batches 3 and 4";
  push(members, 0, {2}, 10);
  EXPECT_TRUE(members.worker(0).given_up.empty());
  EXPECT_EQ(members.ledger(0).open().dropped_batches(), 0u);
  EXPECT_EQ(members.ledger(0).open().ledger().samples(), 30u);
}

TEST(Membership, AServerThatNeverHadABatchDropsItToo) {
  Membership members(1);
  members.hello(0, 7, "host:7");
  push(members, 0, {0}, 10);
  members.give_up(0, std::array{batch_id(1, 1)}, 0);
  EXPECT_EQ(members.ledger(0).open().ledger().batches(), 1u) << "nothing is taken off";
  EXPECT_EQ(members.ledger(0).open().dropped_batches(), 0u);
}

// ---- Passes.

TEST(Membership, APassIsLeftOnlyWithWhatIsHere) {
  Membership members(1);
  members.hello(0, 7, "host:7");
  members.leave(0, 0);
  push(members, 0, {0, 1, 3}, 30);
  EXPECT_TRUE(members.check_pass(0, 1, ledger_of(4, 30, {2}), false).ok());
  const Status missing = members.check_pass(0, 1, ledger_of(6, 60, {2}), false);
  EXPECT_EQ(missing.code(), Code::data_loss);
  EXPECT_EQ(missing.message(), "pass 1 of worker 0 has 5 batches, of which 2 are missing here: 4 to 5");
  EXPECT_TRUE(members.check_pass(0, 1, ledger_of(6, 60, {2}), true).ok()) << "it may lose";
  const Status unread = members.check_pass(0, 1, ledger_of(2, 20), true);
  EXPECT_EQ(unread.code(), Code::failed_precondition);
  EXPECT_THAT(unread.message(), HasSubstr("has 1 batch here that the worker did not read: 3"));
  const Status samples = members.check_pass(0, 1, ledger_of(4, 31, {2}), false);
  EXPECT_EQ(samples.code(), Code::failed_precondition);
  EXPECT_THAT(samples.message(), HasSubstr("read for this server: 31 samples; applied here, in the same batches: 30"));
}

TEST(Membership, ALedgerThatContradictsItselfIsRefused) {
  Membership members(1);
  members.hello(0, 7, "host:7");
  wire::PassLedger given_up = ledger_of(2, 5);
  given_up.set_given_up_samples(6);
  wire::PassLedger elsewhere = ledger_of(2, 5), samples_elsewhere = ledger_of(2, 5);
  elsewhere.set_lost_elsewhere_batches(3);
  samples_elsewhere.set_lost_elsewhere_samples(6);
  for (const wire::PassLedger& ledger : {ledger_of(2, 0, {2}), ledger_of(3, 0, {1, 1}), ledger_of(3, 0, {2, 1}),
                                         ledger_of(0, 0, {0}), given_up, elsewhere, samples_elsewhere}) {
    const Status refused = members.check_pass(0, 0, ledger, true);
    EXPECT_EQ(refused.code(), Code::invalid_argument) << ledger.ShortDebugString();
    EXPECT_EQ(refused.message(), "the ledger of pass 0 of worker 0 contradicts itself");
  }
}

TEST(Membership, WhatIsMissingInAPassThatIsLeftIsRecordedAsLost) {
  Membership members(1);
  members.hello(0, 7, "host:7");
  members.leave(0, 0);
  push(members, 0, {0, 1}, 20);
  const wire::PassLedger ledger = ledger_of(5, 50);
  EXPECT_FALSE(members.finished(0, 1).has_value());
  members.leave(0, 1, &ledger);
  ASSERT_TRUE(members.finished(0, 1).has_value());
  EXPECT_EQ(members.finished(0, 1)->lost_batches(), 3u);
  EXPECT_EQ(members.finished(0, 1)->lost_samples(), 30u);
  EXPECT_EQ(members.worker(0).window, Window(2, 0, {}));
  members.leave(0, 1, &ledger);
  EXPECT_EQ(members.ledger(0).passes_size(), 1) << "a retry of the call leaves it once";
}

// A push of a round that the one before was not left here says that this server has lost the end of it.
TEST(Membership, ARoundIsNotBegunBeforeTheOneBeforeIsLeft) {
  Membership members(1);
  EXPECT_TRUE(members.check_round(0, {}).ok());
  EXPECT_TRUE(members.check_round(0, std::array{batch_id(0, 9)}).ok());
  const Status early = members.check_round(0, std::array{batch_id(2, 0)});
  EXPECT_EQ(early.code(), Code::failed_precondition);
  EXPECT_THAT(early.message(), HasSubstr("worker 0 is in pass 2, and pass 0 was not finished here"));
  members.leave(0, 1);
  EXPECT_TRUE(members.check_round(0, std::array{batch_id(2, 0)}).ok());
}

TEST(Membership, AnImageOfAWorkerAndItsLedgerIsAllThatIsRecorded) {
  Membership members(2), restored(2);
  members.hello(1, 7, "host:7");
  members.hello(1, 8, "host:8");
  push(members, 1, {0, 2}, 20);
  restored.restore(1, members.worker(1));
  restored.restore_ledger(1, members.ledger(1));
  EXPECT_EQ(restored.ledger(1).SerializeAsString(), members.ledger(1).SerializeAsString());
  EXPECT_EQ(restored.ledger(1).worker(), 1u);
  EXPECT_EQ(restored.ledger(1).state(), "live");
  EXPECT_EQ(restored.ledger(1).open().restarts(), 0u) << "of round 1, which the worker began after its restart";
  EXPECT_TRUE(restored.check(1, 2).ok());
  EXPECT_EQ(*restored.begin_push(1, 2, std::array{batch_id(1, 2)}), kDuplicate);
  EXPECT_EQ(restored.worker(0).phase, Phase::not_seen);
}

// ---- Silence. Times are said, not waited for.

TEST(Membership, AFailedProcessIsSilentWhateverIsHeardOfIt) {
  Membership members(2);
  members.hello(0, 7, "host:7");
  members.hello(1, 8, "host:8");
  EXPECT_THAT(members.silent(1000), IsEmpty());
  members.fail(0, "ended with status 1", 2000);
  EXPECT_THAT(members.silent(1000), ElementsAre(0));
  EXPECT_EQ(members.describe(0), "worker 0 (host:7), which ended with status 1");
  ASSERT_TRUE(members.check(0, 1).ok()) << "a heartbeat that was under way";
  EXPECT_THAT(members.silent(1000), ElementsAre(0));
  members.hello(0, 9, "host:9");
  EXPECT_THAT(members.silent(1000), IsEmpty());
  EXPECT_THAT(members.describe(0), HasSubstr("worker 0 (host:9), silent for "));
}

TEST(Membership, AnErrorOfAWorkerThatLivesOnIsNamedBeforeItsEnd) {
  Membership members(1);
  EXPECT_EQ(members.describe(0), "worker 0, which never came");
  members.hello(0, 7, "host:7");
  members.abandon(0, "met an error", 2000);
  EXPECT_THAT(members.silent(1000), ElementsAre(0));
  EXPECT_FALSE(members.all_failed(1000)) << "its process lives on";
  members.fail(0, "ended with status 1", 2000);
  EXPECT_EQ(members.describe(0), "worker 0 (host:7), which met an error, and ended with status 1");
}

TEST(Membership, ANewLeaseForEverybodyAfterARestart) {
  Membership members(2);
  members.hello(0, 7, "host:7");
  EXPECT_THAT(members.silent(-1), ElementsAre(0)) << "live ones only";
  members.touch_all();
  EXPECT_THAT(members.silent(1000), IsEmpty());
  EXPECT_LT(members.quiet_seconds(), 1000);
}

TEST(Membership, AllIsDoneWhenSomeSaidGoodbyeAndNobodyIsAwaited) {
  Membership members(3);
  EXPECT_FALSE(members.all_done());
  for (int worker = 0; worker < 3; ++worker) members.hello(worker, 7, "host:7");
  members.lose(0);
  members.lose(1);
  EXPECT_FALSE(members.all_done());
  members.goodbye(2);
  EXPECT_TRUE(members.all_done());
  members.hello(1, 8, "host:8");
  EXPECT_FALSE(members.all_done());
  Membership all_lost(1);
  all_lost.hello(0, 7, "host:7");
  all_lost.lose(0);
  EXPECT_FALSE(all_lost.all_done()) << "nobody has said goodbye";
}

TEST(Membership, AllHasFailedWhenNobodyIsLeftWhoTrains) {
  Membership members(3);
  for (int worker = 0; worker < 2; ++worker) members.hello(worker, 7, "host:7");
  members.fail(0, "ended", 100);
  members.lose(1);
  EXPECT_FALSE(members.all_failed(-1)) << "worker 2 has not come yet";
  members.hello(2, 7, "host:7");
  members.goodbye(2);
  EXPECT_TRUE(members.all_failed(-1));
  EXPECT_FALSE(members.all_failed(1000)) << "not for so long";
  Membership done(1);
  done.hello(0, 7, "host:7");
  done.goodbye(0);
  EXPECT_FALSE(done.all_failed(-1)) << "all are done";
}

}  // namespace
}  // namespace argosy::ps
