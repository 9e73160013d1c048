#include "argosy/ps/server/replication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <numeric>

#include "argosy/base/run_record.h"
#include "argosy/ps/server/replica_record.h"
#include "argosy/ps/server/replica_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using ::testing::HasSubstr;

// A server of two processes, "a" and "b", and a worker of it.
class ReplicationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    a = std::make_unique<ReplicaProcess>(folder, "a", uint64_t{1});
    worker = std::make_unique<Worker>(a->link(), spec, 0, 4711);
    ASSERT_OK(worker->hello());
    ASSERT_OK(worker->init_dense(1, {0, 0, 0, 0}));
  }
  void follow() {
    b = std::make_unique<ReplicaProcess>(folder, "b", *a);
    ASSERT_TRUE(b->becomes_whole());
  }
  Result<wire::Outcome> push(uint32_t batch) {
    return worker->push({batch_id(0, batch)}, {count_at({7, 1000 + batch})}, {{1, {-1, -1, -1, -1}}});
  }
  std::future<Result<wire::Outcome>> push_later(uint32_t batch) {
    return std::async(std::launch::async, [this, batch] { return push(batch); });
  }
  // The worker goes on with this process.
  void go_to(ReplicaProcess& process) {
    worker = std::make_unique<Worker>(process.link(), spec, 0, 4711);
    ASSERT_OK(worker->hello());
  }
  float count(uint64_t key) {
    const auto rows = worker->pull_rows(0, {key});
    EXPECT_TRUE(rows.ok()) << message_of(rows);
    return rows.ok() ? rows->front() : -1;
  }
  static bool waits(std::future<Result<wire::Outcome>>& call, double seconds = 0.5) {
    return call.wait_for(std::chrono::duration<double>(seconds)) == std::future_status::timeout;
  }

  const Folder folder;
  const JobSpec spec = small_job();
  std::unique_ptr<ReplicaProcess> a, b;
  std::unique_ptr<Worker> worker;
};

// Nothing is acknowledged that the follower has not; what it has, it has in its own log.
TEST_F(ReplicationTest, AnAnswerWaitsForTheFollower) {
  follow();
  ASSERT_OK(push(0));
  a->deaf = true;
  auto pushed = push_later(1);
  EXPECT_TRUE(waits(pushed));
  a->deaf = false;
  ASSERT_OK(pushed.get());
  b->kill();
  a->kill();
  ReplicaProcess again(folder, "b", 2);  // as the primary, from its directory
  go_to(again);
  EXPECT_EQ(count(7), 2);
  EXPECT_EQ(*push(1), wire::DUPLICATE);
}

// Its log has positions of its own, and may lack what the dead process had not acknowledged: a read-only follower that goes on
// where it was would have other rows, and not know it.
TEST_F(ReplicationTest, AReaderOfTheLogIsToldThatAnotherProcessHasAnotherOne) {
  follow();
  ASSERT_OK(push(0));
  const auto ask = [this](ReplicaProcess& process, uint64_t log) -> Result<wire::FollowReply> {
    Worker reader(process.link(), spec, 0, 99);
    RETURN_IF_ERROR(reader.observe().status());
    wire::FollowRequest request;
    *request.mutable_caller() = reader.caller();
    request.set_max_bytes(1 << 20);
    request.set_at_once(true);
    request.set_log(log);
    return reader.call<wire::FollowReply>(wire::FOLLOW, request);
  };
  const auto first = ask(*a, 0);
  ASSERT_OK(first);
  EXPECT_NE(first->log(), 0u);
  EXPECT_EQ(ask(*a, first->log())->log(), first->log());
  a->kill();
  ASSERT_OK(b->core().take_role(lead(2)));
  const auto refused = ask(*b, first->log());
  EXPECT_EQ(refused.status().code(), Code::aborted);
  EXPECT_THAT(refused.status().message(), HasSubstr("is the primary now (epoch 2)"));
  const auto anew = ask(*b, 0);
  ASSERT_OK(anew);
  EXPECT_NE(anew->log(), first->log());
}

TEST_F(ReplicationTest, TheFollowerTakesOverWithTheSameWindows) {
  follow();
  for (uint32_t batch = 0; batch < 20; ++batch) ASSERT_OK(push(batch));
  a->kill();
  ASSERT_OK(b->core().take_role(lead(2)));
  EXPECT_EQ(b->status().role(), wire::ReplicaStatus::PRIMARY);
  go_to(*b);
  EXPECT_EQ(count(7), 20);
  EXPECT_EQ(*push(19), wire::DUPLICATE);
  EXPECT_EQ(*push(20), wire::APPLIED);
  EXPECT_EQ(count(7), 21);
}

// A worker that knows the process before is told to compare, and goes on without a Hello.
TEST_F(ReplicationTest, AWorkerGoesOnWithItsIncarnation) {
  follow();
  ASSERT_OK(push(0));
  auto link = a->link();
  Worker known(link, spec, 0, 4711);
  ASSERT_OK(known.hello());
  a->kill();
  ASSERT_OK(b->core().take_role(lead(2)));
  link->channel = b->connect();
  EXPECT_EQ(*known.push({batch_id(0, 1)}, {count_at({7})}, {{1, {-1, -1, -1, -1}}}), wire::APPLIED);
}

TEST_F(ReplicationTest, APrimaryGoesOnAloneOnlyWhenItIsTold) {
  follow();
  b->kill();
  auto pushed = push_later(0);
  EXPECT_TRUE(waits(pushed));
  ASSERT_OK(a->core().take_role(lead(2)));
  EXPECT_EQ(*pushed.get(), wire::APPLIED);
  EXPECT_FALSE(a->status().whole());
  EXPECT_EQ(a->status().epoch(), 2u);
}

// It was left out, and may lack what was acknowledged since: it can neither go on nor take over.
TEST_F(ReplicationTest, AFollowerThatWasLeftOutEnds) {
  follow();
  a->deaf = true;
  ASSERT_OK(a->core().take_role(lead(2)));
  ASSERT_OK(push(0));
  a->deaf = false;
  EXPECT_THAT(b->death(), HasSubstr("goes on in epoch 2 without this follower"));
  EXPECT_FALSE(b->core().take_role(lead(3)).ok());
}

TEST_F(ReplicationTest, AFollowerThatHasNotCaughtUpDoesNotTakeOver) {
  a->deaf = true;
  b = std::make_unique<ReplicaProcess>(folder, "b", *a);
  a->kill();
  const Status refused = b->core().take_role(lead(2));
  EXPECT_EQ(refused.code(), Code::failed_precondition);
  EXPECT_THAT(refused.message(), HasSubstr("has not caught up"));
  EXPECT_EQ(b->status().role(), wire::ReplicaStatus::FOLLOWER);
}

// Its folder says that something was trained there, and nobody may take it for what the server had: the launcher and servers ask
// is_part_of_run().
TEST_F(ReplicationTest, AFollowerThatIsKilledWhileItCatchesUpLeavesAPart) {
  ASSERT_OK(push(0));
  a->deaf = true;
  b = std::make_unique<ReplicaProcess>(folder, "b", *a);
  b->kill();
  const auto left = folder.path() / "b" / "server-0";
  EXPECT_GT((*read_run_record(left))->batches, 0u);
  EXPECT_TRUE(is_part_of_run(left));
  a->deaf = false;
  ASSERT_OK(a->core().take_role(lead(2)));
  follow();
  EXPECT_FALSE(is_part_of_run(left));
  EXPECT_TRUE(is_part_of_run(left.string() + ".left"));
}

// A process that was stopped for a while, and does not know that another one has taken over.
TEST_F(ReplicationTest, ThePrimaryOfAnEarlierEpochIsFencedByWhoHasMetALaterOne) {
  wire::StatsRequest request;
  *request.mutable_caller() = worker->caller();
  request.mutable_caller()->set_epoch(2);
  const auto answer = worker->call<wire::StatsReply>(wire::STATS, request);
  EXPECT_EQ(answer.status().code(), Code::unavailable);
  EXPECT_THAT(a->death(), HasSubstr("is fenced: epoch 2 has begun"));
}

// Who has not said Hello, or is of another job, ends no server by saying a number.
TEST_F(ReplicationTest, NobodyIsFencedByAStranger) {
  for (const bool another_job : {false, true}) {
    wire::StatsRequest request;
    *request.mutable_caller() = worker->caller();
    request.mutable_caller()->set_epoch(2);
    if (another_job) {
      request.mutable_caller()->set_job("another");
    } else {
      request.mutable_caller()->set_incarnation(0);
    }
    const auto answer = a->connect()->call_and_wait({static_cast<uint16_t>(wire::STATS), request.SerializeAsString(), {}},
                                                    Deadline::after_seconds(5));
    EXPECT_EQ(answer.status().code(), another_job ? Code::failed_precondition : Code::unauthenticated);
    ASSERT_OK(a->core().wait(Deadline::after_seconds(0)).status());
  }
}

TEST_F(ReplicationTest, ThePrimaryOfAnEarlierEpochIsFencedByTheArbiter) {
  EXPECT_FALSE(a->core().take_role(role(wire::ReplicaStatus::FOLLOWER, 2)).ok());
  EXPECT_THAT(a->death(), HasSubstr("is fenced"));
}

// Its follower may have taken over: so not even reads are answered, and a follower that takes over waits for that time.
TEST_F(ReplicationTest, APrimaryThatHearsNothingStopsToAnswer) {
  follow();
  ASSERT_OK(push(0));
  EXPECT_EQ(count(7), 1);
  a->deaf = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(kReplicaLeaseSeconds * 1.1));
  const auto rows = worker->pull_rows(0, {7}, {}, 0.5);
  EXPECT_EQ(rows.status().code(), Code::deadline_exceeded) << message_of(rows);
  a->deaf = false;
  EXPECT_TRUE(soon([&] { return worker->pull_rows(0, {7}, {}, 0.5).ok(); }));
}

TEST_F(ReplicationTest, AFollowerWaitsForTheLeaseOfAPrimaryThatMayRun) {
  follow();
  a->deaf = true;
  const Stopwatch since;
  ASSERT_OK(b->core().take_role(lead(2, true)));
  EXPECT_GT(since.seconds(), kReplicaLeaseSeconds * 0.5);
  const auto rows = worker->pull_rows(0, {7}, {}, 0.2);
  EXPECT_EQ(rows.status().code(), Code::deadline_exceeded) << message_of(rows);
}

TEST_F(ReplicationTest, ASecondFollowerWaitsUntilTheFirstIsLeftOut) {
  follow();
  b->kill();
  auto c = std::make_unique<ReplicaProcess>(folder, "c", *a);
  EXPECT_FALSE(soon([&] { return c->status().whole(); }, 0.6));
  ASSERT_OK(a->core().take_role(lead(2)));
  EXPECT_TRUE(c->becomes_whole());
  ASSERT_OK(push(0));
  a->kill();
  ASSERT_OK(c->core().take_role(lead(3)));
  go_to(*c);
  EXPECT_EQ(count(7), 1);
}

// A follower that was killed can be told nothing: the server's end must not wait for it where another one has its place.
TEST_F(ReplicationTest, TheEndWaitsForTheFollowerThatThereIs) {
  follow();
  ASSERT_OK(push(0));
  b->kill();
  ASSERT_OK(a->core().take_role(lead(2)));
  ReplicaProcess c(folder, "c", *a);
  ASSERT_TRUE(c.becomes_whole());
  ASSERT_OK(push(1));
  const Stopwatch since;
  a->core().tell_followers(Deadline::after_seconds(20));
  EXPECT_LT(since.seconds(), 10);
  const uint64_t version = a->core().state()->version();
  a->kill();  // the follower has everything, and applies it by itself
  EXPECT_TRUE(soon([&] { return c.core().state()->version() == version; })) << c.core().state()->version() << " of " << version;
}

// What answers wait for a follower that is away may have so much memory, and a caller is told which limit that is.
TEST_F(ReplicationTest, AnswersThatAreKeptBackHaveALimit) {
  a->kill();
  a = std::make_unique<ReplicaProcess>(folder, "a", uint64_t{2}, 100);
  go_to(*a);
  follow();
  a->deaf = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(kReplicaLeaseSeconds * 1.1));
  std::vector<uint64_t> keys(100);
  std::iota(keys.begin(), keys.end(), 1);
  EXPECT_EQ(worker->pull_rows(0, {7}, {}, 0.3).status().code(), Code::deadline_exceeded) << "it is kept back";
  const Status refused = worker->pull_rows(0, keys, {}, 5).status();
  EXPECT_EQ(refused.code(), Code::unavailable) << "it is tried again";
  EXPECT_THAT(refused.message(), HasSubstr("waits for its follower: the limit held_answers is reached: 100 bytes"));
  a->deaf = false;
  EXPECT_TRUE(soon([&] { return worker->pull_rows(0, {7}, {}, 0.5).ok(); }));
}

// What a model brings is not in the log: the follower has the snapshot before the load is acknowledged.
TEST_F(ReplicationTest, AModelThatIsLoadedIsOnBothSides) {
  follow();
  ASSERT_OK(push(0));
  wire::SaveSnapshotRequest save;
  *save.mutable_caller() = worker->caller();
  save.set_id(11);
  save.set_folder((folder.path() / "saved").string());
  ASSERT_OK(worker->call<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, save));
  save.set_publish(true);
  ASSERT_OK(worker->call<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, save));
  ASSERT_OK(push(1));
  wire::LoadSnapshotRequest load;
  *load.mutable_caller() = worker->caller();
  load.set_id(12);
  load.set_folder(save.folder());
  ASSERT_OK(worker->call<wire::LoadSnapshotReply>(wire::LOAD_SNAPSHOT, load));
  a->kill();
  ASSERT_OK(b->core().take_role(lead(2)));
  go_to(*b);
  EXPECT_EQ(count(7), 1);
}

TEST_F(ReplicationTest, AFollowerBeginsWithASnapshotWhileTrainingGoesOn) {
  for (uint32_t batch = 0; batch < 30; ++batch) ASSERT_OK(push(batch));
  a->kill();
  {
    Core core(a->options());
    ASSERT_OK(core.recover());
    ASSERT_OK(core.take_role(lead(2)));
    core.start({});
    ASSERT_OK(core.stop(true));  // with a snapshot, which cuts the log
  }
  a = std::make_unique<ReplicaProcess>(folder, "a", uint64_t{3});
  go_to(*a);
  follow();
  ASSERT_OK(push(30));
  a->kill();
  ASSERT_OK(b->core().take_role(lead(4)));
  go_to(*b);
  EXPECT_EQ(count(7), 31);
}

// An old process's directory is worth nothing beside the primary's, and is kept for a person to look at.
TEST_F(ReplicationTest, WhatAFollowersDirectoryHadIsPutAside) {
  ASSERT_OK(push(0));
  follow();
  b->kill();
  ASSERT_OK(a->core().take_role(lead(2)));
  b = std::make_unique<ReplicaProcess>(folder, "b", *a);
  EXPECT_TRUE(b->becomes_whole());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "b" / "server-0.left" / "log"));
}

// Each may be what somebody looks for.
TEST(ReplicaRecordTest, WhatIsLeftBehindReplacesNothing) {
  const Folder folder;
  const auto state = folder.path() / "server-0";
  ASSERT_OK(leave_behind(state));  // there is none
  for (const uint64_t epoch : {1, 2, 3}) {
    ASSERT_OK(write_replica_record(state, {.epoch = epoch}));
    ASSERT_OK(leave_behind(state));
    EXPECT_FALSE(std::filesystem::exists(state));
  }
  EXPECT_EQ((*read_replica_record(state.string() + ".left"))->epoch, 1u);
  EXPECT_EQ((*read_replica_record(state.string() + ".left-2"))->epoch, 2u);
  EXPECT_EQ((*read_replica_record(state.string() + ".left-3"))->epoch, 3u);
}

TEST(ReplicaRecordTest, IsReadAsItWasWritten) {
  const Folder folder;
  EXPECT_EQ(*read_replica_record(folder.path()), std::nullopt);
  const ReplicaRecord record{.epoch = 7, .primary = false, .whole = true, .launch = "0123"};
  ASSERT_OK(write_replica_record(folder.path(), record));
  EXPECT_EQ(*read_replica_record(folder.path()), record);
  std::filesystem::resize_file(folder.path() / "EPOCH", 3);
  EXPECT_EQ(read_replica_record(folder.path()).status().code(), Code::data_loss);
}

}  // namespace
}  // namespace argosy::ps
