#include "argosy/ps/state/state_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "argosy/base/random.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::IsEmpty;

// A server of some for three workers; a push of worker w is a gradient of w + 1 for its one dense table.
class SyncStepsTest : public testing::Test {
 protected:
  explicit SyncStepsTest(int servers = 1, int workers = 3) : members_(workers) {
    tables_ = std::move(Tables::make(job(Mode::sync, workers, {counting_dense("w", 1)}), {.servers = servers})).value();
    steps_ = std::make_unique<SyncSteps>(*tables_, members_);
    for (int worker = 0; worker < workers; ++worker) members_.hello(worker, 100 + static_cast<uint64_t>(worker), "host");
    values_.resize(static_cast<size_t>(workers));
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<float>(i + 1);
  }

  bool push(int worker, Position step) {
    wire::PushRequest record;
    record.set_sequence(step.step);
    Contribution contribution{.worker = static_cast<uint32_t>(worker), .record = record.SerializeAsString()};
    contribution.gradients = {{.table = 0, .values = {&values_[static_cast<size_t>(worker)], 1}}};
    return steps_->hold(step, std::move(contribution));
  }
  void lose(int worker) {
    members_.lose(worker);
    steps_->lose(worker);
    steps_->end_rounds();
  }
  void leave(int worker, uint32_t round, uint32_t steps) {
    steps_->leave(worker, round, steps);
    steps_->end_rounds();
  }
  // The gradient of the step that is committed.
  float commit() { return steps_->commit({})->gradients()[0].values[0]; }

  Membership members_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<SyncSteps> steps_;
  std::vector<float> values_;
};

class SyncStepsOfTwoServers : public SyncStepsTest {
 protected:
  SyncStepsOfTwoServers() : SyncStepsTest(2) {}
};

TEST_F(SyncStepsTest, AStepWaitsForEveryWorker) {
  EXPECT_FALSE(steps_->complete());
  EXPECT_THAT(steps_->missing(), ElementsAre(0, 1, 2));
  push(0, {0, 0});
  push(2, {0, 0});
  EXPECT_FALSE(steps_->complete());
  EXPECT_THAT(steps_->missing(), ElementsAre(1));
  push(1, {0, 0});
  EXPECT_TRUE(steps_->may_commit());
  EXPECT_FLOAT_EQ(commit(), 2) << "the mean of 1, 2 and 3";
  EXPECT_EQ(steps_->position(), (Position{0, 1}));
  EXPECT_FALSE(steps_->complete());
}

// Fast workers push ahead; what they pushed is kept for its step.
TEST_F(SyncStepsTest, PushesAheadWaitForTheirStep) {
  for (uint32_t step = 0; step < 3; ++step) push(0, {0, step});
  EXPECT_EQ(steps_->next_step(0, 0), 3u);
  EXPECT_EQ(steps_->next_step(1, 0), 0u);
  EXPECT_EQ(steps_->next_step(0, 1), 0u) << "of a later round it has pushed none";
  for (uint32_t step = 0; step < 3; ++step) {
    push(1, {0, step}), push(2, {0, step});
    ASSERT_TRUE(steps_->may_commit());
    commit();
  }
  EXPECT_TRUE(steps_->held().empty());
}

TEST_F(SyncStepsTest, APushOfAStepThatIsOverIsDropped) {
  for (int worker = 0; worker < 3; ++worker) push(worker, {0, 0});
  commit();
  EXPECT_FALSE(push(0, {0, 0}));
  EXPECT_TRUE(steps_->held().empty());
}

// Who has left the round is not waited for in it; the mean is that of those who are there.
TEST_F(SyncStepsTest, WhoHasLeftTheRoundIsNotWaitedFor) {
  leave(2, 0, 1);
  push(0, {0, 0}), push(1, {0, 0});
  EXPECT_FALSE(steps_->complete()) << "it said that it has pushed one step";
  push(2, {0, 0});
  EXPECT_FLOAT_EQ(commit(), 2);
  push(0, {0, 1}), push(1, {0, 1});
  EXPECT_TRUE(steps_->may_commit());
  EXPECT_FLOAT_EQ(commit(), 1.5f);
}

TEST_F(SyncStepsTest, ARoundEndsWhenEverybodyHasLeftIt) {
  leave(0, 0, 0);
  leave(1, 0, 0);
  EXPECT_EQ(steps_->position(), (Position{0, 0}));
  push(0, {1, 0});
  leave(2, 0, 0);
  EXPECT_EQ(steps_->position(), (Position{1, 0}));
  EXPECT_EQ(steps_->held().size(), 1u) << "a push of the next round is kept";
  leave(1, 0, 0);
  EXPECT_EQ(steps_->position(), (Position{1, 0})) << "a leave that is repeated means nothing";
}

// A worker of several rounds at once, as one whose data is short, may have left two before another has left the first.
TEST_F(SyncStepsTest, RoundsThatEverybodyHasLeftEndTogether) {
  for (const int worker : {0, 1}) leave(worker, 0, 0), leave(worker, 1, 0);
  leave(2, 0, 0);
  EXPECT_EQ(steps_->position(), (Position{1, 0}));
  leave(2, 1, 0);
  EXPECT_EQ(steps_->position(), (Position{2, 0}));
}

TEST_F(SyncStepsTest, ALostWorkerIsNotWaitedForAndWhatItPushedCounts) {
  push(0, {0, 0}), push(2, {0, 0});
  lose(2);
  EXPECT_THAT(steps_->missing(), ElementsAre(1));
  push(1, {0, 0});
  EXPECT_TRUE(steps_->may_commit()) << "there is one server, which has it";
  EXPECT_FLOAT_EQ(commit(), 2);
  push(0, {0, 1}), push(1, {0, 1});
  EXPECT_FLOAT_EQ(commit(), 1.5f);
}

// Of several servers one may apply a step that another lacks: so each worker has to say that all have its push.
TEST_F(SyncStepsOfTwoServers, AStepIsCommittedWhenAllHaveConfirmedIt) {
  for (int worker = 0; worker < 3; ++worker) push(worker, {0, 0});
  EXPECT_TRUE(steps_->complete());
  EXPECT_FALSE(steps_->may_commit());
  EXPECT_THAT(steps_->missing(), ElementsAre(0, 1, 2));
  steps_->confirm(0, {0, 1}), steps_->confirm(1, {0, 1});
  EXPECT_THAT(steps_->missing(), ElementsAre(2));
  push(2, {0, 1});
  EXPECT_TRUE(steps_->may_commit()) << "who pushes the next step has confirmed those before it";
  EXPECT_TRUE(steps_->is_confirmed(0, {0, 1}));
  EXPECT_FALSE(steps_->is_confirmed(0, {0, 2}));
}

TEST_F(SyncStepsOfTwoServers, WhatALostWorkerHasNotConfirmedIsUnsettled) {
  for (int worker = 0; worker < 3; ++worker) push(worker, {0, 0});
  steps_->confirm(0, {0, 1}), steps_->confirm(1, {0, 1});
  lose(2);
  ASSERT_EQ(steps_->unsettled().size(), 1u);
  EXPECT_EQ(steps_->unsettled()[0]->worker, 2u);
  EXPECT_FALSE(steps_->may_commit());
  EXPECT_EQ(steps_->norms({0, 0}), std::nullopt) << "nobody may clip by what may be dropped";
  steps_->confirm(2, {0, 1});  // kept by all
  EXPECT_TRUE(steps_->unsettled().empty());
  EXPECT_TRUE(steps_->may_commit());
}

TEST_F(SyncStepsOfTwoServers, WhatIsDroppedDoesNotCount) {
  for (int worker = 0; worker < 3; ++worker) push(worker, {0, 0});
  steps_->confirm(0, {0, 1}), steps_->confirm(1, {0, 1});
  lose(2);
  EXPECT_EQ(steps_->held_push(2, {0, 0}).sequence(), 0u);
  EXPECT_TRUE(steps_->drop(2, {0, 0}));
  EXPECT_FALSE(steps_->drop(2, {0, 0})) << "once";
  EXPECT_FALSE(steps_->drop(1, {0, 5}));
  EXPECT_TRUE(steps_->may_commit());
  EXPECT_FLOAT_EQ(commit(), 1.5f);
}

// Sums of squares are asked by all servers' workers, also by one that is a step behind.
TEST_F(SyncStepsTest, NormsAreOfThisStepOrTheLast) {
  EXPECT_EQ(steps_->norms({0, 0}), std::nullopt);
  TableSpec clipped = counting_dense("w", 1);
  clipped.clip_group = "all";
  tables_ = std::move(Tables::make(job(Mode::sync, 3, {clipped}), {})).value();
  steps_ = std::make_unique<SyncSteps>(*tables_, members_);
  for (int worker = 0; worker < 3; ++worker) push(worker, {0, 0});
  EXPECT_THAT(*steps_->norms({0, 0}), ElementsAre(4));
  steps_->commit(std::vector<float>{1});
  EXPECT_THAT(*steps_->norms({0, 0}), ElementsAre(4));
  EXPECT_EQ(steps_->norms({0, 1}), std::nullopt);
}

// After a restart with durability=snapshot: everybody is further than this server, and nobody pushes the lost steps again.
TEST_F(SyncStepsTest, LostStepsAreSkippedWhenEverybodyIsBehindThem) {
  push(0, {0, 5}), push(1, {0, 6});
  EXPECT_FALSE(steps_->skip_lost_steps()) << "worker 2 may still push step 0";
  push(2, {0, 5});
  EXPECT_TRUE(steps_->skip_lost_steps());
  EXPECT_EQ(steps_->position(), (Position{0, 5}));
  EXPECT_FALSE(steps_->skip_lost_steps()) << "there is nothing to skip";
}

TEST_F(SyncStepsTest, WhatASnapshotKeepsGoesOnAsBefore) {
  for (int worker = 0; worker < 3; ++worker) push(worker, {0, 0});
  commit();
  leave(1, 0, 1);
  const SyncSteps::Saved saved = steps_->save();
  SyncSteps again(*tables_, members_);
  again.restore(saved);
  EXPECT_EQ(again.position(), (Position{0, 1}));
  EXPECT_THAT(again.missing(), ElementsAre(0, 2)) << "worker 1 has left the round";
  EXPECT_EQ(again.save().left, saved.left);
}

// Workers push, leave, are lost and come in any order: a step is committed exactly once, in order, by what all who were awaited
// have pushed for it, and a job whose workers have all left ends its rounds.
TEST(SyncSteps, EveryPushIsInOneStepWhateverTheOrder) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 60; ++trial) {
    const int workers = 1 + static_cast<int>(random.below(4));
    Membership members(workers);
    const auto tables = std::move(Tables::make(job(Mode::sync, workers, {counting_dense("w", 1)}), {})).value();
    SyncSteps steps(*tables, members);
    struct Worker {
      uint32_t length = 0, pushed = 0, round = 0;
      bool lost = false;
    };
    std::vector<Worker> all(static_cast<size_t>(workers));
    std::vector<float> one(1, 1);
    for (int i = 0; i < workers; ++i) {
      members.hello(i, 1, "host");
      all[static_cast<size_t>(i)].length = static_cast<uint32_t>(random.below(6));
    }
    uint64_t pushed = 0, applied = 0;
    constexpr uint32_t kRounds = 3;
    for (int moves = 0; moves < 20'000 && steps.position().round < kRounds; ++moves) {
      const int i = static_cast<int>(random.below(static_cast<uint64_t>(workers)));
      Worker& worker = all[static_cast<size_t>(i)];
      if (!worker.lost && worker.round < kRounds) {
        if (worker.pushed < worker.length) {
          Contribution contribution{.worker = static_cast<uint32_t>(i), .record = {}};
          contribution.gradients = {{.table = 0, .values = one}};
          ASSERT_EQ(steps.next_step(i, worker.round),
                    worker.round == steps.position().round ? std::max(worker.pushed, steps.position().step) : worker.pushed);
          if (steps.hold({worker.round, worker.pushed++}, std::move(contribution))) ++pushed;
        } else {
          steps.leave(i, worker.round, worker.pushed);
          steps.end_rounds();
          ++worker.round, worker.pushed = 0;
        }
      }
      if (random.below(200) == 0 && !worker.lost && workers > 1 && i > 0) {
        worker.lost = true;
        members.lose(i);
        steps.lose(i);
        steps.end_rounds();
      }
      while (steps.may_commit()) {
        const Position before = steps.position();
        applied += steps.held().begin()->second.size();
        ASSERT_EQ(steps.commit({})->gradients()[0].values[0], 1) << "the mean of ones, by however many";
        ASSERT_EQ(steps.position(), (Position{before.round, before.step + 1}));
        steps.end_rounds();
      }
    }
    ASSERT_EQ(steps.position().round, kRounds) << "the rounds end";
    uint64_t held = 0;
    for (const auto& [step, contributions] : steps.held()) held += contributions.size();
    ASSERT_EQ(pushed, applied + held);
  }
}

}  // namespace
}  // namespace argosy::ps
