#include "argosy/launch/servers/step_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "argosy/base/file.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class StepJob : public testing::Test {
 protected:
  StepJob() {
    std::string pattern = (fs::temp_directory_path() / "argosy-step-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    for (const auto& [name, value] : kSlurm) ::setenv(name.c_str(), value.c_str(), 1);
    options_.log_dir = (folder_ / "logs").string();
    options_.server_num = 2;
    options_.worker_num = 3;
  }
  ~StepJob() override {
    fs::remove_all(folder_);
    for (const auto& [name, value] : kSlurm) ::unsetenv(name.c_str());
    ::unsetenv("ARGOSY_ON_OLD_STATE");
  }

  // As the task of that number of a step of five has it.
  ProcessSpec process(int task) {
    EnclosingJob step = kStep;
    step.launcher = task;
    auto job = job_of_task(options_, program_, step);
    EXPECT_TRUE(job.ok()) << job.status().message();
    EXPECT_EQ(job->servers.size() + job->workers.size(), 1u);
    EXPECT_TRUE(job->has_other_workers);
    return job->servers.empty() ? job->workers[0] : job->servers[0];
  }

  const std::map<std::string, std::string> kSlurm = {
      {"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_RESTART_COUNT", "0"}};
  const EnclosingJob kStep{
      .kind = EnclosingJob::Kind::launchers, .launchers = 5, .is_step = true, .who = "launcher 0 of 5 (srun)"};
  fs::path folder_;
  ServerJobOptions options_;
  TrainingProgram program_{.command = {"/bin/true"}, .kind = TrainingProgram::Kind::executable};
};

TEST_F(StepJob, TheFirstTasksAreServers) {
  const ProcessSpec server = process(1), worker = process(4);
  EXPECT_EQ(server.name, "server 1");
  EXPECT_EQ(server.environment.at("TRAINING_ROLE"), "PSERVER");
  EXPECT_EQ(server.environment.at("PADDLE_PSERVER_ID"), "1");
  EXPECT_EQ(worker.name, "worker 2");
  EXPECT_EQ(worker.environment.at("PADDLE_TRAINER_ID"), "2");
  EXPECT_EQ(worker.environment.at("PADDLE_TRAINERS_NUM"), "3");
  EXPECT_EQ(worker.log, folder_ / "logs/workerlog.2");
  const std::string names =
      fmt::format("file:{0}/logs/slurm-4711.0.0/server-0,file:{0}/logs/slurm-4711.0.0/server-1", folder_.string());
  for (const ProcessSpec& spec : {server, worker}) EXPECT_EQ(spec.environment.at("PADDLE_PSERVERS_IP_PORT_LIST"), names);
}

TEST_F(StepJob, OneNumberIsEnough) {
  options_.worker_num.reset();
  EXPECT_EQ(process(4).environment.at("PADDLE_TRAINERS_NUM"), "3");
  options_.server_num.reset();
  options_.worker_num = 1;
  EXPECT_EQ(process(3).name, "server 3");
}

TEST_F(StepJob, NumbersThatAreNotTheTasksAreRefused) {
  for (const auto& [servers, workers] : {std::pair{2, 2}, {5, 1}, {5, 0}}) {
    options_.server_num = servers;
    options_.worker_num = workers;
    EXPECT_THAT(job_of_task(options_, program_, kStep).status().message(),
                AllOf(HasSubstr("launcher 0 of 5 (srun)"), HasSubstr("are not 5"), HasSubstr("srun -n")));
  }
}

// Servers would wait for somebody who says which of two they are.
TEST_F(StepJob, FollowersAreRefused) {
  program_.environment["ARGOSY_REPLICAS"] = "1";
  EXPECT_THAT(job_of_task(options_, program_, kStep).status().message(), HasSubstr("none would be a follower"));
}

// Two tasks that come at once must not have two tokens, and nobody else may read it.
TEST_F(StepJob, AllTasksHaveOneTokenThatNobodyElseReads) {
  const std::string token = process(0).environment.at("ARGOSY_TOKEN");
  EXPECT_EQ(token.size(), 32u);
  for (int task = 1; task < 5; ++task) EXPECT_EQ(process(task).environment.at("ARGOSY_TOKEN"), token);
  struct stat found;
  ASSERT_EQ(::stat((folder_ / "logs/slurm-4711.0.0/token").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  ::setenv("SLURM_RESTART_COUNT", "1", 1);
  EXPECT_NE(process(0).environment.at("ARGOSY_TOKEN"), token) << "of another start of the step";
  program_.environment["ARGOSY_TOKEN"] = "given";
  EXPECT_EQ(process(0).environment.at("ARGOSY_TOKEN"), "given");
}

TEST_F(StepJob, ARequeuedJobGoesOn) {
  EXPECT_FALSE(process(0).environment.contains("ARGOSY_ON_OLD_STATE"));
  ::setenv("SLURM_RESTART_COUNT", "2", 1);
  EXPECT_EQ(process(0).environment.at("ARGOSY_ON_OLD_STATE"), "resume");
  program_.environment["ARGOSY_ON_OLD_STATE"] = "fresh";
  EXPECT_EQ(process(0).environment.at("ARGOSY_ON_OLD_STATE"), "fresh") << "the user has said so";
}

TEST_F(StepJob, ListsAndOtherStartersAreNoneOfIt) {
  EXPECT_TRUE(is_task_of_step(options_, kStep));
  EnclosingJob other = kStep;
  other.is_step = false;
  EXPECT_FALSE(is_task_of_step(options_, other));
  options_.servers = {"n0:6170"};
  EXPECT_FALSE(is_task_of_step(options_, kStep));
  EXPECT_FALSE(is_task_of_step({}, kStep)) << "nothing says that there are servers";
}

}  // namespace
}  // namespace argosy::launch
