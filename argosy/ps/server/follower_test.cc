// A server and its followers in one process: what they hold, whom they wait for, what they refuse.
#include "argosy/ps/server/follower.h"

#include <gmock/gmock.h>

#include <future>

#include "argosy/observe/health.h"
#include "argosy/ps/server/follower_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Follower, HoldsTheSameRowsAndChangesNothing) {
  Folder folder;
  Primary primary(primary_options(folder));
  const JobSpec spec = small_job();
  Worker worker(link_to(primary), spec, 0, 5);
  ASSERT_OK(worker.hello());
  ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({7, 9})}));
  Copy copy(primary);
  ASSERT_OK(copy.found);
  ASSERT_TRUE(copy.caught_up(primary.state()));
  Worker reader = copy.reader(spec);
  ASSERT_OK(reader.observe());
  EXPECT_THAT(*reader.pull_rows(0, {7, 8, 9}), ElementsAre(1, 1, 0, 0, 1, 1));
  EXPECT_THAT(*reader.pull_dense(1), ElementsAre(1, 2, 3, 4));
  ASSERT_OK(worker.push({batch_id(0, 1)}, {count_at({7})}));  // while it waits for one
  ASSERT_TRUE(copy.caught_up(primary.state()));
  EXPECT_THAT(*reader.pull_rows(0, {7}), ElementsAre(2, 2));
  EXPECT_EQ(locked_bytes(*copy.core->state()), locked_bytes(primary.state()));

  const auto stats = reader.stats();
  EXPECT_EQ(stats->version(), primary.state().version());
  EXPECT_EQ(stats->following().primary(), "the-primary:1");
  EXPECT_EQ(stats->following().lag_records(), 0u);
  Worker observer(link_to(primary), spec, 0, 6);
  ASSERT_OK(observer.observe());
  EXPECT_EQ(observer.stats()->followers(), 1u);

  // Everything that changes anything is refused by name.
  for (const Status& refusal : {copy.reader(spec).hello().status(), reader.push({batch_id(0, 2)}, {count_at({7})}).status(),
                                reader.init_dense(1, {1}), reader.leave(0, 0), reader.goodbye(), reader.heartbeat()}) {
    EXPECT_THAT(refusal.message(), HasSubstr("read-only follower of the-primary:1"));
  }
  wire::FollowRequest chain;
  *chain.mutable_caller() = reader.caller();
  EXPECT_THAT(reader.call<wire::FollowReply>(wire::FOLLOW, chain).status().message(), HasSubstr("read-only follower"));
}

TEST(Follower, IsReadyAtOnceWhereTheServerIsIdle) {
  Folder folder;
  Primary primary(primary_options(folder));
  Worker worker(link_to(primary), small_job(), 0, 5);
  ASSERT_OK(worker.hello());
  const Stopwatch watch;
  Copy copy(primary);
  ASSERT_TRUE(copy.caught_up(primary.state()));
  EXPECT_LT(watch.seconds(), 3);
  EXPECT_EQ(copy.reader(small_job()).observe()->server().substr(0, 8), "follower");
}

// No worker will ever tell it what the job is.
TEST(Follower, IsNotReadyBeforeItHasCaughtUpAndSaysWhatItWaitsFor) {
  Folder folder;
  Primary primary(primary_options(folder));
  Worker worker(link_to(primary), small_job(), 0, 5);
  ASSERT_OK(worker.hello());
  primary.set_forge([](wire::FollowReply& reply) { reply.set_all(false); });
  Copy copy(primary);
  ASSERT_OK(copy.found);
  EXPECT_THAT(observe::Health::process().problems(observe::Health::Kind::ready),
              HasSubstr("has not caught up with the-primary:1 yet; it waits for "));
}

TEST(Follower, WaitsForAServerThatHasNoJobYet) {
  Folder folder;
  Primary primary(primary_options(folder));
  auto waiting = std::async(std::launch::async, [&] { return Copy(primary, 0.1).found; });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(600)), std::future_status::timeout);
  Worker worker(link_to(primary), small_job(), 0, 5);
  ASSERT_OK(worker.hello());
  EXPECT_TRUE(waiting.get().ok());
}

TEST(Follower, IsToldWhatToSetWhereThereIsNoLog) {
  for (const Durability durability : {Durability::none, Durability::snapshot}) {
    Folder folder;
    ServerOptions options = primary_options(folder);
    options.durability = durability;
    Primary primary(options);
    Worker worker(link_to(primary), small_job(), 0, 5);
    ASSERT_OK(worker.hello());
    Copy copy(primary);
    const std::string why = copy.death();
    EXPECT_THAT(why, HasSubstr("keeps no log"));
    EXPECT_THAT(why, HasSubstr("durability=wal"));
  }
}

TEST(Follower, GoesOnWhenTheServerWasKilledAndStartedAgain) {
  Folder folder;
  Primary primary(primary_options(folder));
  const JobSpec spec = small_job();
  Worker worker(link_to(primary), spec, 0, 5);
  ASSERT_OK(worker.hello());
  Copy copy(primary);
  ASSERT_TRUE(copy.caught_up(primary.state()));
  primary.kill();
  Worker reader = copy.reader(spec);
  ASSERT_OK(reader.observe());  // it serves what it has
  const Deadline deadline = Deadline::after_seconds(20);
  const auto waits_for = [&] { return reader.stats()->following().waits_for(); };
  while (waits_for().find("nobody listens") == std::string::npos && !deadline.passed()) std::this_thread::yield();
  EXPECT_THAT(waits_for(), HasSubstr("the-primary:1: nobody listens"));
  EXPECT_GT(reader.stats()->following().lag_seconds(), 0);
  primary.start();
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({7})}));
  ASSERT_TRUE(copy.caught_up(primary.state()));
  EXPECT_THAT(*reader.pull_rows(0, {7}), ElementsAre(1, 1));
  EXPECT_EQ(reader.stats()->following().snapshots(), 0u);  // it went on where it was
  EXPECT_EQ(locked_bytes(*copy.core->state()), locked_bytes(primary.state()));
}

TEST(Follower, RefusesAServerThatHasGoneBackwards) {
  Folder folder;
  ServerOptions options = primary_options(folder);
  Primary primary(options);
  const JobSpec spec = small_job();
  {
    Worker worker(link_to(primary), spec, 0, 5);
    ASSERT_OK(worker.hello());
    for (uint32_t i = 0; i < 5; ++i) ASSERT_OK(worker.push({batch_id(0, i)}, {count_at({7})}));
  }
  Copy longer(primary), shorter(primary);
  ASSERT_TRUE(longer.caught_up(primary.state()));
  ASSERT_TRUE(shorter.caught_up(primary.state()));
  primary.kill();
  std::filesystem::remove_all(options.directory);  // another disk, the same run
  primary.start();
  Worker worker(link_to(primary), spec, 0, 6);
  ASSERT_OK(worker.hello());
  EXPECT_THAT(longer.death(), HasSubstr("gone backwards"));
}

// The log has grown again since: positions alone would not tell.
TEST(Follower, RefusesAnotherRecordAtItsLastPosition) {
  Folder folder;
  ServerOptions options = primary_options(folder);
  Primary primary(options);
  const JobSpec spec = small_job();
  {
    Worker worker(link_to(primary), spec, 0, 5);
    ASSERT_OK(worker.hello());
    ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({7})}));
  }
  auto copy = std::make_unique<Copy>(primary);
  ASSERT_TRUE(copy->caught_up(primary.state()));
  primary.kill();
  std::filesystem::remove_all(options.directory);
  {
    Primary other(options);  // writes more than there was, while the follower's server is away
    Worker worker(link_to(other), spec, 0, 6);
    ASSERT_OK(worker.hello());
    for (uint32_t i = 0; i < 5; ++i) ASSERT_OK(worker.push({batch_id(0, i)}, {count_at({8})}));
  }
  primary.start();
  EXPECT_THAT(copy->death(), HasSubstr("has another record at position"));
}

TEST(Follower, RefusesAnotherRun) {
  Folder folder;
  ServerOptions options = primary_options(folder);
  Primary primary(options);
  Worker worker(link_to(primary), small_job(), 0, 5);
  ASSERT_OK(worker.hello());
  Copy copy(primary);
  ASSERT_TRUE(copy.caught_up(primary.state()));
  primary.kill();
  // The same address, another run.
  Folder other_folder;
  ServerOptions other_options = primary_options(other_folder);
  other_options.run = "fedcba9876543210";
  Primary other(other_options);
  Worker other_worker(link_to(other), small_job(), 0, 5);
  other_worker.set_run(other_options.run);
  ASSERT_OK(other_worker.hello());
  PrimaryLink link(other.connect(), kRun);
  EXPECT_THAT(link.find(1).message(), HasSubstr("belongs to run fedcba9876543210"));
}

// One forged answer ends the follower, whatever is wrong with it; LogStream's own test has all kinds.
TEST(Follower, EndsWithTheNameOfWhatIsWrongInTheStream) {
  Folder folder;
  Primary primary(primary_options(folder));
  const JobSpec spec = small_job();
  Worker worker(link_to(primary), spec, 0, 5);
  ASSERT_OK(worker.hello());
  Copy copy(primary);
  ASSERT_TRUE(copy.caught_up(primary.state()));
  std::atomic<bool> forging = false;
  const auto shift = [&](wire::FollowReply& reply) {
    if (forging && reply.records_size() > 0) reply.mutable_records(0)->set_after(reply.records(0).after() + 8);
  };
  primary.kill();
  primary.set_forge(shift);
  primary.start();
  forging = true;
  ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({7})}));
  const std::string why = copy.death();
  EXPECT_THAT(why, HasSubstr("a gap"));
  EXPECT_EQ(copy.core->state()->pushes(), 0u);  // nothing of it was applied
}

// A server that ends tells its followers the rest first, and what they have stays.
TEST(Follower, HasTheLastRecordOfAServerThatEnds) {
  Folder folder;
  Primary primary(primary_options(folder));
  const JobSpec spec = small_job();
  Worker worker(link_to(primary), spec, 0, 5);
  ASSERT_OK(worker.hello());
  Copy copy(primary);
  ASSERT_TRUE(copy.caught_up(primary.state()));
  for (uint32_t i = 0; i < 50; ++i) ASSERT_OK(worker.push({batch_id(0, i)}, {count_at({7})}));
  ASSERT_OK(worker.leave(0, 50));
  ASSERT_OK(worker.goodbye());
  const uint64_t version = primary.state().version();
  primary.core().tell_followers(Deadline::after_seconds(10));
  primary.kill();
  Worker reader = copy.reader(spec);
  ASSERT_OK(reader.observe());
  EXPECT_EQ(reader.stats()->version(), version);
  EXPECT_THAT(*reader.pull_rows(0, {7}), ElementsAre(50, 50));
}

TEST(Follower, ASecondOneIsNothingSpecialAndTheSeventeenthIsRefused) {
  Folder folder;
  Primary primary(primary_options(folder));
  const JobSpec spec = small_job();
  Worker worker(link_to(primary), spec, 0, 5);
  ASSERT_OK(worker.hello());
  const auto follow = [&](uint64_t process) {
    Worker one(link_to(primary), spec, 0, process);
    EXPECT_TRUE(one.observe().ok());
    wire::FollowRequest request;
    *request.mutable_caller() = one.caller();
    request.set_at_once(true);
    return one.call<wire::FollowReply>(wire::FOLLOW, request).status();
  };
  for (uint64_t i = 0; i < 16; ++i) ASSERT_TRUE(follow(100 + i).ok());
  EXPECT_TRUE(follow(100).ok());  // one that is known
  const Status refusal = follow(200);
  EXPECT_EQ(refusal.code(), Code::resource_exhausted);
  EXPECT_THAT(refusal.message(), HasSubstr("followers"));
}

}  // namespace
}  // namespace argosy::ps
