#include "argosy/ps/arbiter/pair_judge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/base/random.h"

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;
using Seats = std::array<SeatView, 2>;
using Role = wire::ReplicaStatus::Role;

wire::ReplicaStatus said(Role role, uint64_t epoch, bool whole) {
  wire::ReplicaStatus status;
  status.set_role(role);
  status.set_epoch(epoch);
  status.set_whole(whole);
  return status;
}
wire::ReplicaStatus primary(uint64_t epoch, bool whole = true) { return said(wire::ReplicaStatus::PRIMARY, epoch, whole); }
wire::ReplicaStatus follower(uint64_t epoch, bool whole = true) { return said(wire::ReplicaStatus::FOLLOWER, epoch, whole); }
// One that was just started, and what its directory says.
wire::ReplicaStatus waiting(uint64_t epoch = 0, Role kept = wire::ReplicaStatus::WAITING, bool whole = false) {
  wire::ReplicaStatus status = said(wire::ReplicaStatus::WAITING, epoch, whole);
  status.set_kept(kept);
  return status;
}

class PairJudgeTest : public ::testing::Test {
 protected:
  // The pair is whole in epoch 1.
  void make_whole() {
    seats[0].said = waiting();
    seats[1].said = waiting();
    ASSERT_EQ(decide(), "0 PRIMARY 1");
    seats[0].said = primary(1, false);
    ASSERT_EQ(decide(), "1 FOLLOWER 1");
    seats[0].said = primary(1);
    seats[1].said = follower(1);
    ASSERT_EQ(decide(), "");
  }
  std::string decide() {
    const auto decision = judge.decide(seats);
    if (!decision) return "";
    return std::to_string(decision->seat) + " " + wire::ReplicaStatus::Role_Name(decision->role.role()) + " " +
           std::to_string(decision->role.epoch()) + (decision->role.may_run() ? " may run" : "");
  }
  void die(int seat) {
    seats[static_cast<size_t>(seat)].dead = true;
    seats[static_cast<size_t>(seat)].silent_seconds = 0.1;
  }
  void start_again(int seat, const wire::ReplicaStatus& status) {
    SeatView& view = seats[static_cast<size_t>(seat)];
    view.dead = false;
    view.silent_seconds = 0;
    view.said = status;
  }

  PairJudge judge;
  Seats seats{SeatView{.endpoint = "a:1"}, SeatView{.endpoint = "b:1"}};
};

TEST_F(PairJudgeTest, NothingBeginsBeforeBothHaveAnswered) {
  EXPECT_EQ(decide(), "");
  seats[0].said = waiting();
  EXPECT_EQ(decide(), "");
  seats[1].said = waiting();
  EXPECT_EQ(decide(), "0 PRIMARY 1");
  EXPECT_EQ(decide(), "0 PRIMARY 1");  // until it was seen to be done
}

TEST_F(PairJudgeTest, AWholeFollowerTakesOverFromADeadPrimary) {
  make_whole();
  die(0);
  EXPECT_EQ(decide(), "1 PRIMARY 2");
  seats[1].said = primary(2, false);
  EXPECT_EQ(decide(), "");
  start_again(0, waiting(1, wire::ReplicaStatus::PRIMARY));
  EXPECT_EQ(decide(), "0 FOLLOWER 2");
}

TEST_F(PairJudgeTest, OfASilentPrimaryItIsNotKnownThatItIsDead) {
  make_whole();
  seats[0].silent_seconds = 1;
  EXPECT_EQ(decide(), "");
  seats[0].silent_seconds = 3;
  EXPECT_EQ(decide(), "1 PRIMARY 2 may run");
  seats[1].said = primary(2, false);
  seats[0].silent_seconds = 0;  // it was only stopped
  EXPECT_EQ(decide(), "0 FOLLOWER 2");
}

TEST_F(PairJudgeTest, APrimaryGoesOnAloneWhenItsFollowerIsLost) {
  make_whole();
  die(1);
  EXPECT_EQ(decide(), "0 PRIMARY 2");
  seats[0].said = primary(2, false);
  EXPECT_EQ(decide(), "");
  start_again(1, waiting(1, wire::ReplicaStatus::FOLLOWER, true));
  EXPECT_EQ(decide(), "1 FOLLOWER 2");
}

TEST_F(PairJudgeTest, AFollowerThatDoesNotAskItsPrimaryIsLeftOut) {
  make_whole();
  seats[0].said->set_silent_seconds(3);
  EXPECT_EQ(decide(), "");
  seats[0].said->set_silent_seconds(6);
  EXPECT_EQ(decide(), "0 PRIMARY 2");
  seats[0].said = primary(2, false);
  EXPECT_EQ(decide(), "1 FOLLOWER 2");  // which ends it: it is of epoch 1
}

TEST_F(PairJudgeTest, AFollowerThatHasNotCaughtUpNeverTakesOver) {
  make_whole();
  seats[0].said = primary(1, false);
  seats[1].said = follower(1, false);
  die(0);
  EXPECT_EQ(decide(), "");
  start_again(0, waiting(1, wire::ReplicaStatus::PRIMARY));
  EXPECT_EQ(decide(), "0 PRIMARY 2");  // its directory has everything
}

// It may have acknowledged something in the new epoch, although nobody has seen it there.
TEST_F(PairJudgeTest, WhoWasToldANewEpochMayHaveBegunIt) {
  make_whole();
  die(1);
  ASSERT_EQ(decide(), "0 PRIMARY 2");
  die(0);
  start_again(1, waiting(1, wire::ReplicaStatus::FOLLOWER, true));
  EXPECT_EQ(decide(), "");
  start_again(0, waiting(1, wire::ReplicaStatus::PRIMARY));  // it had not
  EXPECT_EQ(decide(), "0 PRIMARY 3");
}

// It has begun nothing before its directory is recovered, which may take minutes: what it was told is no loss.
TEST_F(PairJudgeTest, WhoDiesWhileItGetsReadyHasLostNothing) {
  make_whole();
  die(0);
  die(1);
  start_again(0, waiting(1, wire::ReplicaStatus::PRIMARY));
  start_again(1, waiting(1, wire::ReplicaStatus::FOLLOWER, true));
  ASSERT_EQ(decide(), "0 PRIMARY 2");
  seats[0].said = primary(2, false);
  seats[0].said->set_getting_ready(true);
  EXPECT_EQ(decide(), "0 PRIMARY 2");
  die(0);
  EXPECT_EQ(decide(), "");
  start_again(0, waiting(1, wire::ReplicaStatus::PRIMARY));
  EXPECT_EQ(decide(), "0 PRIMARY 3");
  seats[0].said = primary(3, false);
  EXPECT_EQ(decide(), "1 FOLLOWER 3");
  EXPECT_TRUE(judge.lost().ok());
}

TEST_F(PairJudgeTest, WhenBothWereKilledTheirDirectoriesDecide) {
  make_whole();
  die(0);
  die(1);
  EXPECT_EQ(decide(), "");
  start_again(1, waiting(1, wire::ReplicaStatus::FOLLOWER, true));
  EXPECT_EQ(decide(), "1 PRIMARY 2");
}

TEST_F(PairJudgeTest, WhatBothHaveLostIsSaid) {
  make_whole();
  die(0);
  die(1);
  start_again(1, waiting());  // its folder is empty
  EXPECT_EQ(decide(), "");
  EXPECT_TRUE(judge.lost().ok());
  seats[0].gone = true;
  EXPECT_EQ(decide(), "");
  EXPECT_THAT(
      judge.lost().message(),
      HasSubstr(
          "what was acknowledged in epoch 1 is lost: the process at a:1 has ended for good, and the process at b:1 has nothing"));
}

// The job is started again, by another launcher, with the directories of both.
// A server that refuses what it finds in its directory has lost nothing.
TEST_F(PairJudgeTest, WhereNobodyEverLedNothingIsLost) {
  seats[0].said = waiting();
  seats[1].said = waiting();
  ASSERT_EQ(decide(), "0 PRIMARY 1");
  seats[0].said = primary(1, false);
  seats[0].said->set_getting_ready(true);  // and finds what it must not go on with
  EXPECT_EQ(decide(), "0 PRIMARY 1");
  EXPECT_FALSE(judge.has_led());
  seats[0].dead = seats[0].gone = true;
  EXPECT_EQ(decide(), "");
  EXPECT_EQ(judge.lost().code(), Code::failed_precondition);
  EXPECT_THAT(judge.lost().message(), HasSubstr("neither process could begin, and nothing was acknowledged"));
}

// A process that starts when the job has ended would wait for its role, and its launcher for it.
TEST_F(PairJudgeTest, AfterTheJobWhoWouldWaitForARoleIsToldToEnd) {
  const auto conclude = [this] {
    const auto decision = judge.conclude(seats);
    return decision ? fmt::format("{} {}", decision->seat, wire::ReplicaStatus::Role_Name(decision->role.role())) : std::string();
  };
  const auto may_come_back = [this](int seat) { return judge.may_come_back(seats[static_cast<size_t>(seat)]); };
  make_whole();
  EXPECT_EQ(conclude(), "");
  EXPECT_FALSE(may_come_back(0) || may_come_back(1)) << "they end with their workers";
  seats[0].silent_seconds = 2.5;
  ASSERT_EQ(decide(), "1 PRIMARY 2 may run");
  seats[1].said = primary(2, false);
  ASSERT_EQ(decide(), "");
  EXPECT_EQ(conclude(), "") << "it does not answer yet";
  EXPECT_TRUE(may_come_back(0)) << "it will be fenced, and started again";
  seats[0].silent_seconds = 0;
  EXPECT_EQ(conclude(), "0 FOLLOWER");
  start_again(0, waiting(1, wire::ReplicaStatus::PRIMARY));
  EXPECT_EQ(conclude(), "0 ENDED");
  seats[0].said = follower(2, false);
  EXPECT_EQ(conclude(), "") << "it follows, and ends with its primary";
  seats[0].said->set_getting_ready(true);
  EXPECT_EQ(conclude(), "0 ENDED") << "it looks for a primary that has ended";
  seats[0].said = said(wire::ReplicaStatus::ENDED, 2, false);
  EXPECT_EQ(conclude(), "");
  EXPECT_FALSE(may_come_back(0));
}

TEST_F(PairJudgeTest, AfterTheJobNobodyWaitsForWhoIsAwayForGood) {
  make_whole();
  seats[0].said = primary(1);
  seats[0].silent_seconds = 2.5;
  ASSERT_EQ(decide(), "1 PRIMARY 2 may run");
  seats[1].said = primary(2, false);
  ASSERT_EQ(decide(), "");
  seats[0].silent_seconds = 31;
  EXPECT_FALSE(judge.may_come_back(seats[0]));
  seats[0].silent_seconds = 3;
  EXPECT_TRUE(judge.may_come_back(seats[0]));
  seats[0].gone = true;
  EXPECT_FALSE(judge.may_come_back(seats[0]));
}

TEST_F(PairJudgeTest, ANewArbiterTakesTheLatestEpoch) {
  seats[0].said = waiting(3, wire::ReplicaStatus::PRIMARY);
  EXPECT_EQ(decide(), "");
  seats[1].said = waiting(4, wire::ReplicaStatus::PRIMARY);
  EXPECT_EQ(decide(), "1 PRIMARY 5");
}

TEST_F(PairJudgeTest, ANewArbiterPromotesNobodyWhosePrimaryItHasNotSeen) {
  seats[1].said = follower(3);
  seats[0].silent_seconds = 100;
  EXPECT_EQ(decide(), "");
  seats[0].said = primary(4, false);
  seats[0].silent_seconds = 0;
  EXPECT_EQ(decide(), "1 FOLLOWER 4");
}

// Random deaths, stops and answers that are lost, of two processes that do as they are told. There is never a primary that lacks
// what was acknowledged: the judge's whole task.
TEST_F(PairJudgeTest, NobodyLeadsWhoLacksWhatWasAcknowledged) {
  struct Process {
    wire::ReplicaStatus status;
    uint64_t has = 0;  // how much of what was acknowledged, of its directory
    bool alive = true;
  };
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    PairJudge fresh;
    std::array<Process, 2> all{Process{.status = waiting()}, Process{.status = waiting()}};
    Seats views{SeatView{.endpoint = "a:1"}, SeatView{.endpoint = "b:1"}};
    uint64_t acknowledged = 0;
    for (int step = 0; step < 300; ++step) {
      const size_t i = random() % 2;
      Process &one = all[i], &other = all[1 - i];
      switch (random() % 8) {
        case 0:  // it dies, and its launcher says so
          if (random() % 4 != 0) break;
          one.alive = false;
          views[i].dead = true;
          break;
        case 1:  // it is started again, with its directory
          if (one.alive) break;
          one.alive = true;
          if (one.status.role() != wire::ReplicaStatus::WAITING) {
            one.status = waiting(one.status.epoch(), one.status.role(),
                                 one.status.role() == wire::ReplicaStatus::FOLLOWER && one.status.whole());
          }
          break;
        case 2:  // it is not heard for a while
          views[i].silent_seconds = 3;
          break;
        case 3:
        case 4:  // it is heard
          if (!one.alive) break;
          views[i].said = one.status;
          views[i].dead = false;
          views[i].silent_seconds = 0;
          break;
        case 5:  // the follower catches up with its primary, which tells it
          if (one.alive && other.alive && one.status.role() == wire::ReplicaStatus::PRIMARY &&
              other.status.role() == wire::ReplicaStatus::FOLLOWER && other.status.epoch() == one.status.epoch()) {
            other.has = one.has;
            one.status.set_whole(true);
            other.status.set_whole(true);
          }
          break;
        case 6:  // something is acknowledged
          if (!one.alive || one.status.role() != wire::ReplicaStatus::PRIMARY) break;
          if (one.status.whole()) {
            const bool both = other.alive && other.status.role() == wire::ReplicaStatus::FOLLOWER &&
                              other.status.epoch() == one.status.epoch() && other.status.whole();
            if (!both) break;
            other.has = one.has + 1;
          }
          ASSERT_EQ(one.has, acknowledged) << "seed " << seed << ", step " << step;
          acknowledged = ++one.has;
          break;
        case 7: {
          const auto decision = fresh.decide(views);
          if (!decision || random() % 3 == 0) break;  // the message is lost
          Process& told = all[static_cast<size_t>(decision->seat)];
          if (!told.alive) break;
          const uint64_t epoch = decision->role.epoch();
          if (decision->role.role() == wire::ReplicaStatus::PRIMARY) {
            const bool may = told.status.role() != wire::ReplicaStatus::FOLLOWER || told.status.whole();
            if (may && epoch > told.status.epoch()) told.status = primary(epoch, false);
          } else if (told.status.role() == wire::ReplicaStatus::WAITING) {
            told.status = follower(epoch, false);
            told.has = 0;
          } else if (epoch > told.status.epoch()) {
            told.alive = false;  // it ends
          }
          break;
        }
      }
    }
  }
}

}  // namespace
}  // namespace argosy::ps
