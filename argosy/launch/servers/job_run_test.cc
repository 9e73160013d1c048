#include "argosy/launch/servers/job_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "argosy/base/run_record.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class LaunchRun : public testing::Test {
 protected:
  LaunchRun() {
    std::string pattern = (fs::temp_directory_path() / "argosy-launch-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    clear();
  }
  ~LaunchRun() override {
    fs::remove_all(folder_);
    clear();
  }
  static void clear() {
    for (const char* name : {"ARGOSY_RUN_ID", "ARGOSY_LAUNCH", "ARGOSY_DIRECTORY", "ARGOSY_ON_OLD_STATE"}) ::unsetenv(name);
  }

  ServerJob job(std::map<std::string, std::string> environment = {}, int servers = 2) {
    const TrainingProgram program{
        .command = {"./train"}, .kind = TrainingProgram::Kind::executable, .environment = std::move(environment)};
    ServerJobOptions options;
    options.server_num = servers;
    options.log_dir = (folder_ / "logs").string();
    auto made = make_job(options, program);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::move(*made);
  }
  std::map<std::string, std::string> kept(const std::string& on_old_state) {
    return {{"ARGOSY_DIRECTORY", (folder_ / "kept").string()}, {"ARGOSY_ON_OLD_STATE", on_old_state}};
  }
  // A run of two servers.
  void leave_run(const std::string& finished, int workers = 0) {
    for (int server : {0, 1}) {
      const RunRecord record{.job = "job",
                             .run = "oldrun",
                             .launch = "oldlaunch",
                             .started = "2026-11-16 11:27:06 UTC",
                             .finished = finished,
                             .server = server,
                             .servers = 2,
                             .workers = workers,
                             .passes = 3,
                             .batches = 70,
                             .rows = 5};
      ASSERT_TRUE(write_run_record(server_folder_in(folder_ / "kept", server), record).ok());
    }
  }

  // What a follower of the run has left; `whole`: it had everything.
  void leave_follower(int server, const RunRecord& record, bool whole = true) {
    const fs::path folder = server_folder_in(followers_in(folder_ / "kept"), server);
    ASSERT_TRUE(write_run_record(folder, record).ok());
    if (whole) std::ofstream(folder / kRoleFile) << "epoch 1\n";
  }

  const RunRecord kFollower{.job = "job", .run = "oldrun", .started = "2026-11-16 11:27:06 UTC", .servers = 2, .batches = 1};
  fs::path folder_;
};

std::string variable_of(const ProcessSpec& process, const std::string& name) {
  const auto found = process.environment.find(name);
  return found == process.environment.end() ? "" : found->second;
}

TEST_F(LaunchRun, AllProcessesHaveOneIdAndAnotherLaunchAnother) {
  ServerJob first = job(), second = job();
  name_run(first);
  name_run(second);
  EXPECT_EQ(first.run.size(), 16u);
  EXPECT_NE(first.run, second.run);
  for (const ProcessSpec* process : {&first.servers[0], &first.servers[1], &first.workers[1]}) {
    EXPECT_EQ(variable_of(*process, "ARGOSY_RUN_ID"), first.run);
    EXPECT_EQ(variable_of(*process, "ARGOSY_LAUNCH"), variable_of(first.servers[0], "ARGOSY_LAUNCH"));
  }
}

TEST_F(LaunchRun, AnIdThatWasGivenIsTaken) {
  ::setenv("ARGOSY_RUN_ID", "mine", 1);
  ServerJob by_variable = job(), by_flag = job({{"ARGOSY_RUN_ID", "flag"}});
  name_run(by_variable);
  name_run(by_flag);
  EXPECT_EQ(by_variable.run, "mine");
  EXPECT_EQ(by_flag.run, "flag");
  ::setenv("ARGOSY_LAUNCH", "outer", 1);  // a launcher that a process of a run has started
  ServerJob nested = job();
  name_run(nested);
  EXPECT_NE(nested.run, "mine");
}

// Its launchers do not talk to each other: each would draw another one.
TEST_F(LaunchRun, AJobOnSeveralMachinesHasNoneUntilServer0DrawsIt) {
  ServerJobOptions options;
  options.servers = {"127.0.0.1:6200", "127.0.0.2:6200"};
  options.workers = {"127.0.0.1", "127.0.0.2"};
  options.node_ip = "127.0.0.2";
  auto part = make_job(options, {.command = {"./train"}, .kind = TrainingProgram::Kind::executable});
  ASSERT_TRUE(part.ok());
  name_run(*part);
  EXPECT_EQ(variable_of(part->workers[0], "ARGOSY_RUN_ID"), "");
  EXPECT_NE(variable_of(part->workers[0], "ARGOSY_LAUNCH"), "");
}

TEST_F(LaunchRun, AnOldRunStopsALaunchThatWasNotToldWhatToDo) {
  ServerJob empty = job(kept("stop"));
  EXPECT_TRUE(check_directory(empty).ok());
  leave_run("");
  ServerJob untold = job(kept("stop"));
  EXPECT_THAT(
      check_directory(untold).message(),
      AllOf(HasSubstr(
                "holds run oldrun of job 'job' (started 2026-11-16 11:27:06 UTC, 2 servers, not finished: 3 passes, 10 rows)"),
            HasSubstr("--resume"), HasSubstr("--fresh")));
  ServerJob fresh = job(kept("fresh"));
  EXPECT_TRUE(check_directory(fresh).ok());
}

// A job that goes on without followers, or with those of another run, would lose what only they have.
TEST_F(LaunchRun, WhatFollowersHoldIsNotPassedOver) {
  RunRecord record = kFollower;
  const auto beside = followers_in(folder_ / "kept");
  leave_follower(0, record);
  ServerJob untold = job(kept("stop"));
  EXPECT_THAT(check_directory(untold).message(), HasSubstr("run oldrun"));  // also where the servers' own folders are lost
  leave_run("");
  ServerJob alone = job(kept("resume"));
  EXPECT_THAT(check_directory(alone).message(), HasSubstr("go on with --replicas 1"));
  ServerJob pairs = job(kept("resume"));
  pairs.all_followers = {"127.0.0.1:6203", "127.0.0.1:6204"};
  EXPECT_TRUE(check_directory(pairs).ok());
  record.run = "other";
  leave_follower(0, record);
  EXPECT_THAT(check_directory(pairs).message(), HasSubstr("move the one away that is not to go on"));
  ServerJob fresh = job(kept("fresh"));
  EXPECT_TRUE(check_directory(fresh).ok());
  EXPECT_FALSE(std::filesystem::exists(beside));
  EXPECT_TRUE(std::filesystem::exists(beside.string() + ".before-other/server-0"));
}

// A follower that was killed while it still caught up leaves the beginning of a run, which says of itself that it was trained.
TEST_F(LaunchRun, AFolderThatAFollowerHadNotFilledIsNoState) {
  leave_run("");
  for (int server : {0, 1}) leave_follower(server, kFollower, false);
  ServerJob alone = job(kept("resume"));
  EXPECT_TRUE(check_directory(alone).ok()) << "the servers' own folders have more";
  ServerJob pairs = job(kept("resume"));
  pairs.all_followers = {"127.0.0.1:6203", "127.0.0.1:6204"};
  EXPECT_TRUE(check_directory(pairs).ok());
  fs::remove_all(server_folder_in(folder_ / "kept", 1));
  for (ServerJob* resumed : {&alone, &pairs}) {
    EXPECT_THAT(check_directory(*resumed).message(),
                AllOf(HasSubstr("kept/server-1', which server 1 would go on with, is not there"),
                      HasSubstr("kept/followers/server-1' holds a part only"), HasSubstr("--fresh")));
  }
  fs::remove_all(server_folder_in(folder_ / "kept", 0));
  EXPECT_THAT(check_directory(pairs).message(), HasSubstr("server-0', which server 0 would go on with, is not there"));
  ServerJob untold = job(kept("stop"));
  EXPECT_THAT(check_directory(untold).message(), HasSubstr("holds run oldrun"));
  leave_follower(0, kFollower);
  leave_follower(1, kFollower);
  EXPECT_TRUE(check_directory(pairs).ok()) << "they have everything, and nothing else is left";
}

// Its server would begin with empty tables, and the others with what they have.
TEST_F(LaunchRun, ARunOfWhichAServersFolderIsLostIsNotGoneOnWith) {
  leave_run("2026-11-16 12:00:00 UTC");
  fs::remove_all(server_folder_in(folder_ / "kept", 0));
  ServerJob resumed = job(kept("resume"));
  EXPECT_THAT(check_directory(resumed).message(), HasSubstr("server-0', which server 0 would go on with, is not there; put"));
  ServerJob part = job(kept("resume"));
  part.is_whole = false;  // the folder may be on another machine
  EXPECT_TRUE(check_directory(part).ok());
  RunRecord begun{.job = "job", .run = "oldrun", .server = 0, .servers = 2};
  ASSERT_TRUE(write_run_record(server_folder_in(folder_ / "kept", 0), begun).ok());
  EXPECT_TRUE(check_directory(resumed).ok()) << "it had no batch yet";
}

TEST_F(LaunchRun, AResumedRunKeepsItsIdUntilItHasFinished) {
  leave_run("");
  ServerJob unfinished = job(kept("resume"));
  ASSERT_TRUE(check_directory(unfinished).ok());
  name_run(unfinished);
  EXPECT_EQ(unfinished.run, "oldrun");
  leave_run("2026-11-16 12:27:06 UTC");
  ServerJob finished = job(kept("resume"));
  ASSERT_TRUE(check_directory(finished).ok());
  name_run(finished);
  EXPECT_NE(finished.run, "oldrun");
}

TEST_F(LaunchRun, AnotherNumberOfServersIsNamedWithTheCommandThatHelps) {
  leave_run("");
  ServerJob three = job(kept("resume"), 3);
  EXPECT_THAT(check_directory(three).message(), HasSubstr("argosy reshard " + (folder_ / "kept").string() + " --servers 3"));
}

// A run that has not finished has batches of each of its workers, and waits for the rest of them.
TEST_F(LaunchRun, AnotherNumberOfWorkersIsNamedWithTheCommandThatHelps) {
  leave_run("2026-11-16 12:27:06 UTC", 3);
  ServerJob finished = job(kept("resume"));
  EXPECT_THAT(check_directory(finished).message(),
              HasSubstr("argosy reshard " + (folder_ / "kept").string() + " --servers 2 --workers 2"));
  leave_run("", 3);
  ServerJob unfinished = job(kept("resume"));
  EXPECT_THAT(check_directory(unfinished).message(), HasSubstr("Go on with as many workers as it had"));
}

TEST_F(LaunchRun, ADirectoryInUseIsRefused) {
  leave_run("");
  const auto lock = lock_server_folder(folder_ / "kept" / "server-1");
  ServerJob second = job(kept("fresh"));
  EXPECT_THAT(check_directory(second).message(), HasSubstr("in use by another server process"));
}

// Also in the moment in which all its servers are dead, and their folders locked by nobody: --fresh took a running job's state.
TEST_F(LaunchRun, ADirectoryOfARunningLauncherIsRefused) {
  leave_run("");
  ServerJob second = job(kept("fresh"));
  {
    ServerJob first = job(kept("resume"));
    ASSERT_EQ(hold_directory(first), Status::ok_status());
    EXPECT_THAT(hold_directory(second).message(), HasSubstr("is the directory of a job that another launcher runs"));
  }
  EXPECT_EQ(hold_directory(second), Status::ok_status());
}

TEST_F(LaunchRun, GoingOnNeedsADirectory) {
  ServerJob none = job({{"ARGOSY_ON_OLD_STATE", "resume"}});
  EXPECT_THAT(check_directory(none).message(), HasSubstr("this job has none; give --directory"));
}

// As the documents have them for the first, in a folder of its own for the second.
TEST_F(LaunchRun, TwoAtOnceNeverShareALog) {
  ServerJob first = job(), second = job();
  name_run(first);
  name_run(second);
  auto held = hold_logs(first);
  ASSERT_TRUE(held.ok()) << held.status().message();
  EXPECT_EQ(first.workers[0].log, (folder_ / "logs" / "workerlog.0").string());
  ASSERT_TRUE(hold_logs(second).ok());
  EXPECT_EQ(second.workers[0].log, (folder_ / "logs" / second.run / "workerlog.0").string());
  held = Status::cancelled("the first has ended");
  ServerJob third = job();
  name_run(third);
  ASSERT_TRUE(hold_logs(third).ok());
  EXPECT_EQ(third.workers[0].log, (folder_ / "logs" / "workerlog.0").string());
}

}  // namespace
}  // namespace argosy::launch
