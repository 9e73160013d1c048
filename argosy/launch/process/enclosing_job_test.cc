#include "argosy/launch/process/enclosing_job.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

extern char** environ;

namespace argosy::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Kind = EnclosingJob::Kind;
using Variables = std::map<std::string, std::string>;

// The environment as it was comes back with the end of the test.
class EnclosingJobFound : public ::testing::Test {
 protected:
  ~EnclosingJobFound() override {
    clear();
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

  // With these variables of launchers and operators, and no others.
  Result<EnclosingJob> with(const Variables& variables) {
    clear();
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    return enclosing_job();
  }

 private:
  static Variables clear() {
    Variables found;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      for (const char* start : {"PADDLE_", "TRAINING_ROLE", "POD_IP", "OMPI_", "PMI", "MPI_", "SLURM_", "RANK", "WORLD_SIZE",
                                "LOCAL_", "MASTER_", "TORCHELASTIC_", "ARGOSY_", "FLAGS_"}) {
        if (text.starts_with(start)) found.emplace(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
      }
    }
    for (const auto& [name, value] : found) ::unsetenv(name.c_str());
    return found;
  }
  const Variables before_ = clear();
};

const Variables kServers = {{"TRAINING_ROLE", "PSERVER"}, {"PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:2379,10.0.0.2:2379"}};

Variables with_more(Variables more) {
  more.insert(kServers.begin(), kServers.end());
  return more;
}

TEST_F(EnclosingJobFound, NothingSaidIsNoJob) {
  const auto job = with({});
  ASSERT_TRUE(job.ok()) << job.status().message();
  EXPECT_EQ(job->kind, Kind::none);
  EXPECT_EQ(job->launchers, 1);
  EXPECT_EQ(with({{"TRAINING_ROLE", ""}, {"PADDLE_PSERVERS_IP_PORT_LIST", " "}})->kind, Kind::none) << "empty ones say nothing";
  EXPECT_EQ(with({{"TRAINING_ROLE", "TRAINER"}})->kind, Kind::none) << "a role without servers is a user's own variable";
  EXPECT_EQ(with({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}})->kind, Kind::none)
      << "a job of one process is no other job";
}

// A pod of paddle-operator: a launcher in it would start servers and workers of its own in every pod.
TEST_F(EnclosingJobFound, APodHasOneRole) {
  const auto server = with(with_more({{"POD_IP", "10.0.0.2"}, {"PADDLE_PORT", "2379"}}));
  ASSERT_TRUE(server.ok()) << server.status().message();
  EXPECT_EQ(server->kind, Kind::role);
  EXPECT_EQ(server->process, "server 1");
  EXPECT_EQ(server->who, "TRAINING_ROLE='PSERVER' and PADDLE_PSERVERS_IP_PORT_LIST='10.0.0.1:2379,10.0.0.2:2379'");
  const auto worker = with({{"TRAINING_ROLE", "TRAINER"}, {"PADDLE_TRAINER_ID", "3"}, {"PADDLE_PSERVERS_IP_PORT_LIST", "a:1"}});
  EXPECT_EQ(worker->kind, Kind::role);
  EXPECT_EQ(worker->process, "worker 3");
  EXPECT_EQ(with({{"TRAINING_ROLE", "TRAINER"}, {"PADDLE_PSERVERS_IP_PORT_LIST", "a:1"}})->process, "worker 0");
}

TEST_F(EnclosingJobFound, AServersNumberIsThatOfItsAddress) {
  EXPECT_EQ(with(kServers)->process, "server 0") << "where nobody says its address";
  EXPECT_EQ(with(with_more({{"PADDLE_CURRENT_ENDPOINT", "10.0.0.2:2379"}}))->process, "server 1");
  EXPECT_EQ(
      with(with_more({{"PADDLE_CURRENT_ENDPOINT", "10.0.0.1:2379"}, {"POD_IP", "10.0.0.2"}, {"PADDLE_PORT", "2379"}}))->process,
      "server 0")
      << "the whole endpoint is more than its parts";
  EXPECT_EQ(with(with_more({{"POD_IP", "10.0.0.9"}, {"PADDLE_PORT", "2379"}}))->process, "server 0") << "an address of no server";
  EXPECT_EQ(with(with_more({{"POD_IP", "10.0.0.2"}}))->process, "server 0") << "half an address";
}

// Earlier releases and other operators have other names.
TEST_F(EnclosingJobFound, OldNamesSayTheSame) {
  const auto job =
      with({{"PADDLE_TRAINING_ROLE", "SERVER"}, {"PADDLE_PSERVER_IPS", "a:1,b:1"}, {"PADDLE_CURRENT_ENDPOINT", "b:1"}});
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->kind, Kind::role);
  EXPECT_EQ(job->process, "server 1");
  EXPECT_THAT(job->who, AllOf(HasSubstr("PADDLE_TRAINING_ROLE='SERVER'"), HasSubstr("PADDLE_PSERVER_IPS='a:1,b:1'")));
}

TEST_F(EnclosingJobFound, OneOfSeveralLaunchersKnowsItsNumberAndWhoStartedIt) {
  const Variables torch = {{"RANK", "1"},        {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"},
                           {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}};
  const auto by_torchrun = with(torch);
  ASSERT_TRUE(by_torchrun.ok()) << by_torchrun.status().message();
  EXPECT_EQ(by_torchrun->kind, Kind::launchers);
  EXPECT_EQ(by_torchrun->launchers, 4);
  EXPECT_EQ(by_torchrun->on_this_machine, 2);
  EXPECT_EQ(by_torchrun->launcher, 1);
  EXPECT_FALSE(by_torchrun->is_step);
  EXPECT_EQ(by_torchrun->who, "launcher 1 of 4 (RANK and WORLD_SIZE)");

  const auto by_mpirun = with({{"OMPI_COMM_WORLD_RANK", "0"},
                               {"OMPI_COMM_WORLD_SIZE", "2"},
                               {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                               {"SLURM_STEP_NUM_TASKS", "1"}});  // mpirun inside of an allocation
  ASSERT_TRUE(by_mpirun.ok()) << by_mpirun.status().message();
  EXPECT_EQ(by_mpirun->who, "launcher 0 of 2 (mpirun)");
  EXPECT_FALSE(by_mpirun->is_step);

  const auto by_srun = with({{"SLURM_PROCID", "2"},
                             {"SLURM_STEP_NUM_TASKS", "3"},
                             {"SLURM_LOCALID", "0"},
                             {"SLURM_NODEID", "2"},
                             {"SLURM_STEP_TASKS_PER_NODE", "1(x3)"},
                             {"SLURM_STEP_NODELIST", "n[1-3]"},
                             {"SLURM_JOB_ID", "7"}});
  ASSERT_TRUE(by_srun.ok()) << by_srun.status().message();
  EXPECT_EQ(by_srun->who, "launcher 2 of 3 (srun)");
  EXPECT_TRUE(by_srun->is_step);
}

// Half of somebody's variables: a job of one's own is started by word only, and the message says by which.
TEST_F(EnclosingJobFound, HalfAJobIsAnErrorThatSaysHowToHaveOnesOwn) {
  for (const Variables& half : {Variables{{"RANK", "1"}}, Variables{{"RANK", "x"}, {"WORLD_SIZE", "2"}},
                                Variables{{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "2"}}}) {
    const auto job = with(half);
    ASSERT_FALSE(job.ok());
    EXPECT_THAT(job.status().message(),
                AllOf(HasSubstr(half.begin()->first), HasSubstr("process of another job"), HasSubstr(kOwnJob)));
  }
}

}  // namespace
}  // namespace argosy::launch
