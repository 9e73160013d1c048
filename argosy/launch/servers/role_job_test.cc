#include "argosy/launch/servers/role_job.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

namespace argosy::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Variables that are there for one test.
class EnclosingJobTest : public testing::Test {
 protected:
  ~EnclosingJobTest() override { clear(); }
  void clear() {
    for (const auto& [name, value] : set_) ::unsetenv(name.c_str());
    set_.clear();
  }
  EnclosingJob in(const std::map<std::string, std::string>& variables) {
    clear();
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    set_ = variables;
    const auto job = enclosing_job();
    EXPECT_TRUE(job.ok()) << job.status().message();
    return job.ok() ? *job : EnclosingJob();
  }
  static std::map<std::string, std::string> slurm(const std::string& tasks, const std::string& per_node) {
    return {{"SLURM_PROCID", "0"},   {"SLURM_STEP_NUM_TASKS", tasks}, {"SLURM_STEP_TASKS_PER_NODE", per_node},
            {"SLURM_NODEID", "0"},   {"SLURM_LOCALID", "0"},          {"SLURM_STEP_NODELIST", "n[0-1]"},
            {"SLURM_JOB_ID", "4711"}};
  }

  std::map<std::string, std::string> set_;
};

const ServerJobOptions kNumbers{.server_num = 1, .worker_num = 1};
const ServerJobOptions kLists{.servers = {"n0:6170"}, .workers = {"n0", "n1"}};

TEST_F(EnclosingJobTest, WhereThereIsNoneEverythingMayStart) {
  EXPECT_EQ(in({}).kind, EnclosingJob::Kind::none);
  EXPECT_EQ(in(slurm("1", "1")).kind, EnclosingJob::Kind::none);
  EXPECT_TRUE(check_may_start(kNumbers, in({})).ok());
}

// Two tasks of a Slurm step ran two complete jobs, and both "ended well".
TEST_F(EnclosingJobTest, SeveralLaunchersDoNotStartAJobEach) {
  const EnclosingJob step = in(slurm("2", "1(x2)"));
  EXPECT_THAT(
      check_may_start(kNumbers, step).message(),
      AllOf(HasSubstr("launcher 0 of 2 (srun)"), HasSubstr("each would start a complete job"), HasSubstr("--standalone")));
  EXPECT_THAT(check_may_start({}, step).message(), HasSubstr("complete job"));
  EXPECT_TRUE(check_may_start(kLists, step).ok()) << "one task per node, each with its processes";
  const EnclosingJob mpi = in({{"OMPI_COMM_WORLD_RANK", "1"},
                               {"OMPI_COMM_WORLD_SIZE", "2"},
                               {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_THAT(check_may_start(kNumbers, mpi).message(), HasSubstr("launcher 1 of 2 (mpirun)"));
}

TEST_F(EnclosingJobTest, SeveralLaunchersOfAMachineNeedToKnowWhichProcessesAreTheirs) {
  const EnclosingJob step = in(slurm("2", "2"));
  EXPECT_THAT(check_may_start(kLists, step).message(), HasSubstr("of which 2 are on this machine"));
  ServerJobOptions own = kLists;
  own.node_ip = "n0";
  EXPECT_TRUE(check_may_start(own, step).ok());
}

TEST_F(EnclosingJobTest, ThePodOfOneProcessIsJoined) {
  EnclosingJob pod = in({{"TRAINING_ROLE", "PSERVER"},
                         {"PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:6170,10.0.0.2:6170"},
                         {"PADDLE_TRAINERS_NUM", "2"},
                         {"POD_IP", "10.0.0.2"},
                         {"PADDLE_PORT", "6170"}});
  EXPECT_TRUE(check_may_start({}, pod).ok());
  EXPECT_THAT(check_may_start(kNumbers, pod).message(),
              AllOf(HasSubstr("this is server 1 of a job with parameter servers already (TRAINING_ROLE='PSERVER'"),
                    HasSubstr("leave the numbers and lists")));
  const TrainingProgram program{.command = {"/bin/true"}, .kind = TrainingProgram::Kind::executable};
  const auto job = job_of_role({}, program, pod);
  ASSERT_TRUE(job.ok()) << job.status().message();
  ASSERT_EQ(job->servers.size(), 1);
  EXPECT_TRUE(job->workers.empty());
  EXPECT_EQ(job->servers[0].name, "server 1");
  EXPECT_EQ(job->servers[0].log, "logs/serverlog.1");
  EXPECT_TRUE(job->servers[0].without.empty()) << "the pod's variables are its role";
  pod = in({{"TRAINING_ROLE", "TRAINER"}, {"PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:6170"}, {"PADDLE_TRAINER_ID", "3"}});
  EXPECT_EQ(pod.process, "worker 3");
}

TEST_F(EnclosingJobTest, VariablesThatSayHalfOfItAreAnError) {
  in({});
  ::setenv("SLURM_STEP_NUM_TASKS", "2", 1);
  set_ = {{"SLURM_STEP_NUM_TASKS", "2"}};
  EXPECT_THAT(enclosing_job().status().message(), HasSubstr("SLURM_PROCID"));
}

}  // namespace
}  // namespace argosy::launch
