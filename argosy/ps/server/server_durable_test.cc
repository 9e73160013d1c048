// What a server knows after its process died. The server is destroyed without a word and started again on its directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

ServerOptions options_for(const Folder& folder) {
  ServerOptions options = InProcess::options();
  options.directory = folder.path() / "server-0";
  return options;
}

// The whole point: acknowledged is kept, and a retry after the restart is still a retry.
TEST(ServerLog, KeepsAcknowledgedPushesAndTheirNumbers) {
  Folder folder;
  const JobSpec spec = job(Mode::async, 1, {counting_rows(), counting_dense()});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(worker.init_dense(1, {1, 2, 3, 4}).ok());
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_EQ(*worker.push({batch_id(0, i)}, {count_at({7, 100 + i})}, {{1, {-1, 0, 0, 0}}}), wire::APPLIED);
    if (i % 3 == 0) process.restart();
    ASSERT_EQ(*worker.push({batch_id(0, i)}, {count_at({7, 100 + i})}, {{1, {-1, 0, 0, 0}}}), wire::DUPLICATE);
  }
  process.restart();
  EXPECT_THAT(*worker.pull_rows(0, {7, 105}), ElementsAre(10, 10, 1, 1));
  EXPECT_THAT(*worker.pull_dense(1), ElementsAre(11, 2, 3, 4));
  EXPECT_EQ(worker.stats()->batches(), 10u);
  // A new process of the worker is told what the old one did.
  Worker again = process.worker(spec, 0);
  const auto hello = again.hello();
  EXPECT_EQ(hello->incarnation(), 2u);
  EXPECT_EQ(hello->window().through(), 10u);
  process.restart();
  EXPECT_EQ(worker.heartbeat().code(), Code::aborted);
  EXPECT_TRUE(again.heartbeat().ok());
}

TEST(ServerLog, KeepsSyncStepsThatAreHalfDone) {
  Folder folder;
  const JobSpec spec = job(Mode::sync, 2, {counting_rows()});
  InProcess process(options_for(folder));
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_TRUE(first.hello().ok());
  ASSERT_TRUE(second.hello().ok());
  for (uint32_t step = 0; step < 4; ++step) {
    ASSERT_EQ(*first.push({batch_id(0, step)}, {count_at({5, 6}, 2)}, {}, Position{0, step}), wire::APPLIED);
    process.restart();  // with one of two contributions
    ASSERT_EQ(*first.push({batch_id(0, step)}, {count_at({5, 6}, 2)}, {}, Position{0, step}), wire::DUPLICATE);
    ASSERT_EQ(*second.push({batch_id(0, step)}, {count_at({5}, 4)}, {}, Position{0, step}), wire::APPLIED);
    if (step % 2 == 0) process.restart();  // with both
    const float done = static_cast<float>(step + 1);
    EXPECT_THAT(*first.pull_rows(0, {5, 6}, Position{0, step + 1}), ElementsAre(3 * done, 3 * done, done, done));
  }
  ASSERT_TRUE(first.leave(0, 4).ok());
  process.restart();
  ASSERT_TRUE(second.leave(0, 4).ok());
  EXPECT_TRUE(second.pull_rows(0, {5}, Position{1, 0}).ok());
  EXPECT_EQ(first.hello()->window().round(), 1u);
}

TEST(ServerLog, KeepsAClippedStepThatWaitsForItsFactors) {
  Folder folder;
  TableSpec rows = counting_rows();
  rows.clip_group = "all";
  const JobSpec spec = job(Mode::sync, 1, {rows});
  InProcess process(options_for(folder));
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(worker.push({batch_id(0, 0)}, {count_at({5}, 4)}, {}, Position{0, 0}).ok());
  process.restart();
  wire::StepNormsRequest ask;
  *ask.mutable_caller() = worker.caller();
  EXPECT_EQ(worker.call<wire::StepNormsReply>(wire::STEP_NORMS, ask)->norms(0).sum_of_squares(), 32);
  wire::ApplyStepRequest apply;
  *apply.mutable_caller() = worker.caller();
  apply.add_factors()->set_name("all");
  apply.mutable_factors(0)->set_value(0.25f);
  ASSERT_TRUE(worker.call<wire::ApplyStepReply>(wire::APPLY_STEP, apply).ok());
  process.restart();
  EXPECT_THAT(*worker.pull_rows(0, {5}, Position{0, 1}), ElementsAre(1, 1));
  EXPECT_TRUE(worker.call<wire::ApplyStepReply>(wire::APPLY_STEP, apply)->duplicate());
  EXPECT_EQ(worker.call<wire::StepNormsReply>(wire::STEP_NORMS, ask)->norms(0).sum_of_squares(), 32);
}

TEST(ServerLog, KeepsGatheringsRatesAndGeoChanges) {
  Folder folder;
  TableSpec rows = counting_rows();
  rows.geo = true;
  const JobSpec spec = job(Mode::geo, 2, {rows});
  InProcess process(options_for(folder));
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_TRUE(first.hello().ok());
  ASSERT_TRUE(second.hello().ok());
  auto waiting = std::async(std::launch::async, [&] { return first.gather("x", 1, "one"); });
  EXPECT_THAT(*second.gather("x", 1, "two"), ElementsAre("one", "two"));
  ASSERT_TRUE(waiting.get().ok());
  ASSERT_TRUE(first.push({batch_id(0, 0)}, {count_at({5})}).ok());
  wire::SetRateRequest rate;
  *rate.mutable_caller() = first.caller();
  rate.set_table(-1);
  rate.set_rate(0.125f);
  ASSERT_TRUE(first.call<wire::SetRateReply>(wire::SET_RATE, rate).ok());
  process.restart();
  EXPECT_THAT(*first.gather("x", 1, "one"), ElementsAre("one", "two"));  // its first answer was lost
  EXPECT_EQ(first.stats()->tables(0).rate(), 0.125f);
  wire::PullChangedRequest ask;
  *ask.mutable_caller() = second.caller();
  ask.set_number(1);
  ask.add_tables(0);
  EXPECT_EQ(second.call<wire::PullChangedReply>(wire::PULL_CHANGED, ask)->sections(0).count(), 1u);
}

TEST(ServerLog, RefusesTheDirectoryOfAnotherServer) {
  Folder folder;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  {
    InProcess process(options_for(folder));
    Worker worker = process.worker(spec, 0);
    ASSERT_TRUE(worker.hello().ok());
  }
  ServerOptions other = options_for(folder);
  other.job = "another";
  EXPECT_THAT(Server::start(other).status().message(), HasSubstr("job 'test'"));
  other = options_for(folder);
  other.servers = 2;
  EXPECT_THAT(Server::start(other).status().message(), HasSubstr("2 servers"));
}

// The log alone says what the run was, before there is a snapshot: another number of workers, or another mode, would give their
// batches to others.
TEST(ServerLog, IsComparedWithTheJobThatAServerKnows) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.spec = job(Mode::async, 2, {counting_rows()});
  {
    InProcess process(options);
    Worker worker = process.worker(*options.spec, 0);
    ASSERT_OK(worker.hello());
    ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({5})}));
  }
  for (const JobSpec& other :
       {job(Mode::async, 3, {counting_rows()}), job(Mode::async, 1, {counting_rows()}), job(Mode::sync, 2, {counting_rows()})}) {
    ServerOptions changed = options;
    changed.spec = other;
    const Status refused = Server::start(changed).status();
    EXPECT_EQ(refused.code(), Code::failed_precondition);
    EXPECT_THAT(refused.message(),
                testing::AllOf(HasSubstr("the directory"), HasSubstr("--fresh"), testing::Not(HasSubstr("repair"))));
  }
  ServerOptions renamed = options;
  renamed.job = "another";
  EXPECT_THAT(Server::start(renamed).status().message(), HasSubstr("job 'test'"));
  EXPECT_TRUE(Server::start(options).ok());
}

// Without a directory there is nothing to go on with, and the worker is told so.
TEST(ServerLog, IsMissedWhereThereIsNone) {
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(InProcess::options());
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  process.restart();
  const auto refused = worker.push({batch_id(0, 0)}, {count_at({5})});
  EXPECT_EQ(refused.status().code(), Code::failed_precondition);
  EXPECT_THAT(refused.status().message(), HasSubstr("started again without what it held (durability=none)"));
}

// The same for a server that knows its job from the start, as those of scripts do: its tables are new ones, and the worker must
// not go on with them.
TEST(ServerLog, IsMissedByAServerThatKnowsItsJob) {
  ServerOptions options = InProcess::options();
  options.spec = job(Mode::async, 2, {counting_rows()});
  InProcess process(options);
  Worker worker = process.worker(*options.spec, 0), other = process.worker(*options.spec, 1);
  ASSERT_TRUE(worker.hello().ok());
  ASSERT_TRUE(other.hello().ok());
  process.restart();
  for (Worker* one : {&worker, &other}) {
    for (const Status& status : {one->push({batch_id(0, 0)}, {count_at({5})}).status(), one->pull_rows(0, {5}).status(),
                                 one->heartbeat(), one->leave(0, 1), one->gather("b", 1, "").status(), one->goodbye()}) {
      EXPECT_EQ(status.code(), Code::failed_precondition);
      EXPECT_THAT(status.message(),
                  testing::AllOf(HasSubstr("server 0 ("), HasSubstr("durability=none"), HasSubstr("--directory")));
    }
  }
}

// With snapshots alone a restart loses what came after the last one: workers go on, also those that nobody remembers.
TEST(ServerSnapshots, AWorkerThatCameAfterTheLastOneGoesOn) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.durability = Durability::snapshot;
  options.snapshot_seconds = 1000;
  const JobSpec spec = job(Mode::async, 2, {counting_rows(), counting_dense()});
  InProcess process(options);
  Worker first = process.worker(spec, 0), late = process.worker(spec, 1);
  const auto snapshots = [&](uint64_t count) {
    const Deadline deadline = Deadline::after_seconds(60);
    while (first.stats()->snapshots() < count && !deadline.passed()) std::this_thread::yield();
    return first.stats()->snapshots();
  };
  ASSERT_TRUE(first.hello().ok());
  ASSERT_EQ(snapshots(1), 1u);
  ASSERT_TRUE(first.init_dense(1, {1, 2, 3, 4}).ok());
  ASSERT_EQ(snapshots(2), 2u);
  ASSERT_TRUE(first.push({batch_id(0, 0)}, {count_at({5})}).ok());
  process.restart();
  EXPECT_EQ(*first.push({batch_id(0, 1)}, {count_at({5})}), wire::APPLIED);
  EXPECT_THAT(*first.pull_dense(1), testing::ElementsAre(1, 2, 3, 4)) << "first values are in a snapshot at once";

  const auto numbered = folder.path() / "server-0" / "snapshots";
  const auto before = folder.path() / "before";
  std::filesystem::copy(numbered, before, std::filesystem::copy_options::recursive);
  ASSERT_TRUE(late.hello().ok());
  process.kill();
  std::filesystem::remove_all(numbered);  // as if it had died before the snapshot that the hello made due
  std::filesystem::rename(before, numbered);
  process.start();
  EXPECT_EQ(*late.push({batch_id(0, 0)}, {count_at({7})}), wire::APPLIED);
  EXPECT_EQ(late.stats()->workers(1).state(), "live");
  EXPECT_EQ(*late.push({batch_id(0, 0)}, {count_at({7})}), wire::DUPLICATE);
  EXPECT_THAT(*late.pull_rows(0, {7}), testing::ElementsAre(1, 1));
  Worker again = process.worker(spec, 1);
  ASSERT_TRUE(again.hello().ok());
  EXPECT_EQ(late.heartbeat().code(), Code::aborted) << "a newer process fences it off as ever";
}

// Rows beyond the memory limit are on disk when the process dies; snapshot and log have them all the same.
TEST(ServerLog, RestoresRowsThatHadGoneToDisk) {
  Folder folder;
  ServerOptions options = options_for(folder);
  options.mem_limit_bytes = 200'000;
  options.snapshot_seconds = 0.2;
  const JobSpec spec = job(Mode::async, 1, {counting_rows()});
  InProcess process(options);
  Worker worker = process.worker(spec, 0);
  ASSERT_TRUE(worker.hello().ok());
  constexpr uint64_t kBatches = 60, kRows = 500;
  for (uint32_t batch = 0; batch < kBatches; ++batch) {
    std::vector<uint64_t> keys = {7};
    for (uint64_t i = 0; i < kRows; ++i) keys.push_back(1000 + batch * kRows + i);
    ASSERT_TRUE(worker.push({batch_id(0, batch)}, {count_at(keys)}).ok());
    if (batch % 20 == 10) process.restart();
  }
  EXPECT_GT(worker.stats()->tables(0).cold_rows(), 1000u);
  process.restart();
  EXPECT_EQ(worker.stats()->tables(0).rows(), kBatches * kRows + 1);
  EXPECT_THAT(*worker.pull_rows(0, {7, 1000, 15'000}), ElementsAre(60, 60, 1, 1, 1, 1));
}

}  // namespace
}  // namespace argosy::ps
