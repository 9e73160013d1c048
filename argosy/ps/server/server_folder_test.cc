// What a server does with the run that it finds in its folder.
#include "argosy/ps/server/server_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/base/run_record.h"
#include "argosy/ps/client/cluster_test.h"
#include "argosy/ps/server/replica_record.h"
#include "argosy/ps/server/reshard.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

namespace fs = std::filesystem;
using namespace scratch;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const JobSpec kSpec = scratch::job(Mode::async, 1, {counting_rows(), scratch::counting_dense("dense", 5)});

class ServerFolders : public testing::Test {
 protected:
  ServerOptions options(const std::string& run, const std::string& launch, OnOldState on_old_state = OnOldState::stop,
                        int server = 0, int servers = 1) {
    ServerOptions options = InProcess::options();
    options.run = run;
    options.launch = launch;
    options.on_old_state = on_old_state;
    options.server = server;
    options.servers = servers;
    options.directory = folder_.path() / ("server-" + std::to_string(server));
    return options;
  }

  // A run that adds 1 to row 7, or with several servers to the next row that is this one's; its process is killed, or it
  // finishes.
  void train(const ServerOptions& options, bool finish) {
    InProcess process(options);
    Worker worker = process.worker(kSpec, 0);
    worker.set_server(options.server, options.servers);
    worker.set_run(options.run);
    const auto hello = worker.hello();
    ASSERT_OK(hello);
    if (dense_range(kSpec, 1, options.servers, options.server).size() > 0)
      ASSERT_OK(worker.init_dense(1, std::vector<float>(5, 0)));
    uint64_t key = 7;
    while (server_of(key, options.servers) != options.server) ++key;
    ASSERT_OK(worker.push({batch_id(hello->window().round(), 0)}, {count_at({key})}));
    ASSERT_OK(worker.leave(hello->window().round(), 0));
    if (!finish) return;
    ASSERT_OK(worker.goodbye());
    ASSERT_OK(process.server->stop());
  }

  float row(const ServerOptions& options) {
    InProcess process(options);
    Worker worker = process.worker(kSpec, 0);
    worker.set_server(options.server, options.servers);
    worker.set_run(options.run);
    const auto hello = worker.hello();
    EXPECT_TRUE(hello.ok()) << hello.status().message();
    return worker.pull_rows(0, {7})->at(0);
  }

  std::string refusal(const ServerOptions& options) { return Server::start(options).status().message(); }

  const Folder folder_;
};

TEST_F(ServerFolders, WithinALaunchAServerGoesOn) {
  train(options("run1", "launch1"), false);
  EXPECT_EQ(row(options("run1", "launch1")), 1);
}

// It was killed between the last goodbye and its own end: there is nothing left to do, and nobody to wait for.
TEST_F(ServerFolders, AServerThatIsStartedAgainAfterItsRunHasFinishedEndsAtOnce) {
  train(options("run1", "launch1"), true);
  InProcess process(options("run1", "launch1"));
  EXPECT_TRUE(*process.server->wait(Deadline::after_seconds(0)));
}

TEST_F(ServerFolders, ANewLaunchIsToldWhatIsThere) {
  train(options("run1", "launch1"), false);
  EXPECT_THAT(refusal(options("run2", "launch2")),
              AllOf(HasSubstr("run run1 of job 'test' (started 20"), HasSubstr("1 server, not finished: "), HasSubstr("--resume"),
                    HasSubstr("--fresh")));
  EXPECT_EQ(row(options("run2", "launch2", OnOldState::resume)), 1);
  EXPECT_EQ((*read_run_record(folder_.path() / "server-0"))->run, "run2");
}

TEST_F(ServerFolders, AFinishedRunSaysWhatItHas) {
  train(options("run1", "launch1"), true);
  EXPECT_THAT(refusal(options("run2", "launch2")), HasSubstr("UTC: 1 pass, 1 row)"));
  EXPECT_THAT(refusal(options("", "")), HasSubstr("finished 20"));
}

// The worker's batches count from the beginning again, on the tables of the run before.
TEST_F(ServerFolders, AfterAFinishedRunANewOneBeginsWithItsTables) {
  train(options("run1", "launch1"), true);
  train(options("run2", "launch2", OnOldState::resume), true);
  EXPECT_EQ(row(options("run3", "launch3", OnOldState::resume)), 2);
}

TEST_F(ServerFolders, FreshMovesTheOldRunAsideOnceALaunch) {
  train(options("run1", "launch1"), true);
  const ServerOptions fresh = options("run2", "launch2", OnOldState::fresh);
  train(fresh, false);
  EXPECT_EQ(row(fresh), 1) << "the second start of the same launch goes on";
  EXPECT_EQ((*read_run_record(folder_.path() / "server-0.before-run2"))->run, "run1");
}

TEST_F(ServerFolders, FreshMovesAsideWhatMoreServersLeft) {
  for (const int server : {0, 1}) train(options("run1", "launch1", OnOldState::stop, server, 2), true);
  train(options("run2", "launch2", OnOldState::fresh), false);
  EXPECT_TRUE(fs::exists(folder_.path() / "server-1.before-run2"));
  EXPECT_FALSE(fs::exists(folder_.path() / "server-1"));
}

// As in the documents, where nobody gives ids: an unfinished run goes on, a finished one has to be asked about.
TEST_F(ServerFolders, ByHandAnUnfinishedRunGoesOn) {
  train(options("", ""), false);
  const std::string run = (*read_run_record(folder_.path() / "server-0"))->run;
  EXPECT_EQ(run.size(), 16u);
  EXPECT_EQ(row(options("", "")), 1);
  EXPECT_EQ((*read_run_record(folder_.path() / "server-0"))->run, run);
  ServerOptions other_job = options("", "");
  other_job.job = "another";
  EXPECT_THAT(refusal(other_job), HasSubstr("of job 'test'"));
}

TEST_F(ServerFolders, ByHandAFinishedRunIsNotTrainedOnTopOf) {
  train(options("", ""), true);
  const std::string run = (*read_run_record(folder_.path() / "server-0"))->run;
  EXPECT_THAT(refusal(options("", "")), HasSubstr("holds run " + run));
  EXPECT_EQ(row(options("", "", OnOldState::resume)), 1);
  EXPECT_NE((*read_run_record(folder_.path() / "server-0"))->run, run) << "a new run has an id of its own";
}

// A first try that failed before it trained anything must not stand in the way of the second.
TEST_F(ServerFolders, WhereNothingWasTrainedThereIsNoRun) {
  {
    InProcess process(options("run1", "launch1"));
    Worker worker = process.worker(kSpec, 0);
    worker.set_run("run1");
    ASSERT_OK(worker.hello());
    ASSERT_OK(worker.init_dense(1, std::vector<float>(5, 3)));
  }
  InProcess process(options("run2", "launch2"));
  Worker worker = process.worker(kSpec, 0);
  worker.set_run("run2");
  ASSERT_OK(worker.hello());
  EXPECT_EQ(worker.hello()->uninitialised_size(), 1) << "the first try's values are gone";
}

// Its process was killed before it could note the first batch: a launcher finds the run all the same, and a server refuses it.
TEST_F(ServerFolders, ThatSomethingWasTrainedIsKnownFromTheFirstBatchOn) {
  train(options("run1", "launch1"), false);
  RunRecord behind = **read_run_record(folder_.path() / "server-0");
  behind.batches = behind.rows = behind.passes = 0;
  ASSERT_OK(write_run_record(folder_.path() / "server-0", behind));
  EXPECT_EQ(find_old_runs(folder_.path())->size(), 1u);
  EXPECT_THAT(refusal(options("run2", "launch2")), HasSubstr("holds run run1"));
}

// Servers of scripts know their tables before the first worker comes: their log begins with first values.
TEST_F(ServerFolders, ALogThatBeginsBeforeTheFirstWorkerCanBeDealtOut) {
  ServerOptions begun = options("run1", "launch1");
  begun.spec = kSpec;
  begun.import_first = true;
  {
    InProcess process(begun);
    const auto begins = process.server->begin_import();
    ASSERT_OK(begins);
    ASSERT_TRUE(*begins);
    ASSERT_OK(process.server->end_import());
    Worker worker = process.worker(kSpec, 0);
    worker.set_run("run1");
    ASSERT_OK(worker.hello());
    ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4, 5}));
    ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({5, 6}, 2)}));
  }
  ASSERT_OK(reshard(folder_.path(), 2));
}

TEST_F(ServerFolders, TwoServersNeverShareAFolder) {
  InProcess process(options("run1", "launch1"));
  EXPECT_THAT(refusal(options("run2", "launch2", OnOldState::fresh)), HasSubstr("in use by another server process"));
}

TEST_F(ServerFolders, AnotherNumberOfServersIsDealtOutByATool) {
  const ServerOptions many[] = {options("run1", "launch1", OnOldState::stop, 0, 2),
                                options("run1", "launch1", OnOldState::stop, 1, 2)};
  for (const ServerOptions& one : many) {
    InProcess process(one);
    Worker worker = process.worker(kSpec, 0);
    worker.set_server(one.server, 2);
    worker.set_run("run1");
    ASSERT_OK(worker.hello());
    const Range range = dense_range(kSpec, 1, 2, one.server);
    if (range.size() > 0) ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4, 5}));
    std::vector<uint64_t> keys;
    for (uint64_t key = 0; key < 100; ++key) {
      if (server_of(key, 2) == one.server) keys.push_back(key);
    }
    ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at(keys, 2)}));
  }
  EXPECT_THAT(refusal(options("run2", "launch2", OnOldState::resume, 0, 3)), HasSubstr("argosy reshard"));
  ASSERT_OK(reshard(folder_.path(), 3));
  size_t rows = 0;
  std::vector<float> dense;
  for (int server = 0; server < 3; ++server) {
    InProcess process(options("run2", "launch2", OnOldState::resume, server, 3));
    Worker worker = process.worker(kSpec, 0);
    worker.set_server(server, 3);
    worker.set_run("run2");
    const auto hello = worker.hello();
    ASSERT_OK(hello);
    EXPECT_EQ(hello->window().through(), 1u) << "the batch is not trained again";
    for (uint64_t key = 0; key < 100; ++key) {
      if (server_of(key, 3) != server) continue;
      EXPECT_THAT(*worker.pull_rows(0, {key}), ElementsAre(2, 2)) << key;
      ++rows;
    }
    const auto part = *worker.pull_dense(1);
    dense.insert(dense.end(), part.begin(), part.end());
  }
  EXPECT_EQ(rows, 100u);
  EXPECT_THAT(dense, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_TRUE(fs::exists(folder_.path() / "server-1.before-run1"));
}

// Which of a server's two processes has the newest state, reshard cannot know.
TEST_F(ServerFolders, ServersOfTwoProcessesAreNotDealtOut) {
  train(options("run1", "launch1"), true);
  ASSERT_OK(write_replica_record(folder_.path() / "server-0", {.epoch = 2, .primary = true}));
  EXPECT_THAT(reshard(folder_.path(), 2).message(), HasSubstr("--replicas 1"));
  fs::remove(folder_.path() / "server-0" / "EPOCH");
  fs::create_directories(followers_in(folder_.path()));
  fs::copy(folder_.path() / "server-0", followers_in(folder_.path()) / "server-0", fs::copy_options::recursive);
  EXPECT_THAT(reshard(folder_.path(), 2).message(), HasSubstr("the newest state of a server may be in"));
  fs::remove_all(followers_in(folder_.path()));
  ASSERT_OK(reshard(folder_.path(), 2));
}

// Servers that no launcher of the job has started find it out themselves.
TEST_F(ServerFolders, WhatAFollowerOfAnEarlierLaunchHasIsNotPassedOver) {
  train(options("", ""), false);
  const fs::path own = folder_.path() / "server-0", beside = followers_in(folder_.path()) / "server-0";
  fs::create_directories(beside.parent_path());
  fs::copy(own, beside, fs::copy_options::recursive);
  EXPECT_EQ(row(options("", "")), 1) << "one that had not caught up has no more than the server";
  ASSERT_OK(write_replica_record(beside, {.epoch = 1, .whole = true}));
  for (const OnOldState choice : {OnOldState::stop, OnOldState::resume})
    EXPECT_THAT(refusal(options("", "", choice)), AllOf(HasSubstr("what may be the newest of run "), HasSubstr("may have less")));
  fs::rename(own, folder_.path() / "moved");  // only the follower's is left
  for (const OnOldState choice : {OnOldState::stop, OnOldState::resume})
    EXPECT_THAT(refusal(options("", "", choice)), AllOf(HasSubstr("holds no run"), HasSubstr("Go on with replicas=1")));
  fs::remove(beside / "EPOCH");
  EXPECT_THAT(refusal(options("", "", OnOldState::resume)), AllOf(HasSubstr("holds a part of run "), HasSubstr("--fresh")));
  EXPECT_EQ(row(options("run2", "launch2", OnOldState::fresh)), 0);
  EXPECT_FALSE(fs::exists(beside));
  EXPECT_TRUE(fs::exists(beside.string() + ".before-run2"));
}

// A follower's folder says from its beginning on that something was trained, also where both processes die before anything was.
TEST_F(ServerFolders, APrimaryThatHasTrainedNothingYetGoesOnBesideItsFollower) {
  ServerOptions primary = options("run1", "launch1");
  primary.replica = true;
  const fs::path beside = followers_in(folder_.path()) / "server-0";
  ASSERT_OK(write_run_record(primary.directory, {.job = "test", .run = "run1", .launch = "launch1"}));
  ASSERT_OK(write_run_record(beside, {.job = "test", .run = "run1", .launch = "launch1", .started = "2026-11-19"}));
  ASSERT_OK(mark_trained(beside));
  for (const bool whole : {false, true}) {
    if (whole) ASSERT_OK(write_replica_record(beside, {.epoch = 1, .whole = true}));
    EXPECT_TRUE(ServerFolder::check_beside(primary).ok()) << ServerFolder::check_beside(primary).message();
  }
  fs::remove_all(primary.directory);
  EXPECT_THAT(ServerFolder::check_beside(primary).message(), HasSubstr("holds no run"));
}

TEST_F(ServerFolders, ServersThatDoNotHoldTheSameBatchesAreNotDealtOut) {
  train(options("run1", "launch1", OnOldState::stop, 0, 2), false);
  const ServerOptions second = options("run1", "launch1", OnOldState::stop, 1, 2);
  train(second, false);
  train(second, false);
  EXPECT_THAT(reshard(folder_.path(), 1).message(), HasSubstr("do not hold the same batches"));
  EXPECT_TRUE(fs::exists(folder_.path() / "server-1"));
}

}  // namespace
}  // namespace argosy::ps
