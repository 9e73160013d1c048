#include "argosy/base/rank_info.h"

#include <gmock/gmock.h>

#include <cctype>
#include <cstdlib>
#include <map>

#include "argosy/base/address.h"

extern char** environ;

namespace argosy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

// What rank_info_from_environment() says where of the variables of any launcher these are set, and no others.
Result<RankInfo> place_with(const Variables& variables) {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) names.emplace_back(*entry, std::string_view(*entry).find('='));
  for (const std::string& name : names) {
    for (const char* start : {"PADDLE_", "OMPI_", "PMI", "MPI_", "SLURM_", "RANK", "WORLD_SIZE", "LOCAL_", "MASTER_",
                              "TORCHELASTIC_", "ARGOSY_", "FLAGS_"}) {
      if (name.starts_with(start)) ::unsetenv(name.c_str());
    }
  }
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  return rank_info_from_environment();
}

Variables with(Variables base, Variables more) {
  more.merge(base);
  return more;
}

// rank/world local_rank/local_world master
std::string shown(const Result<RankInfo>& place) {
  if (!place.ok()) return place.status().message();
  return fmt::format("{}/{} {}/{} {}:{}", place->rank, place->world_size, place->local_rank, place->local_world_size,
                     place->master_host, place->master_port);
}

const Variables kPaddle = {{"PADDLE_TRAINER_ID", "2"},
                           {"PADDLE_TRAINERS_NUM", "3"},
                           {"PADDLE_TRAINER_ENDPOINTS", "127.0.0.1:6170,127.0.0.2:6170, 127.0.0.2:6171"},
                           {"PADDLE_CURRENT_ENDPOINT", "127.0.0.2:6171"}};
const Variables kTorch = {
    {"RANK", "3"},           {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "node0"},
    {"MASTER_PORT", "29500"}};
const Variables kMpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                        {"OMPI_COMM_WORLD_SIZE", "2"},
                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
const Variables kSlurm = {{"SLURM_PROCID", "5"},
                          {"SLURM_STEP_NUM_TASKS", "7"},
                          {"SLURM_LOCALID", "1"},
                          {"SLURM_NODEID", "2"},
                          {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
                          {"SLURM_STEP_NODELIST", "cpu[08-10],gpu1"},
                          {"SLURM_JOB_ID", "4711"}};

TEST(RankInfo, WithoutALauncherAProcessIsAlone) {
  EXPECT_EQ(shown(place_with({})), "0/1 0/1 :0");
  EXPECT_EQ(shown(place_with({{"PADDLE_TRAINER_ID", " "}, {"RANK", ""}})), "0/1 0/1 :0");
  // a batch script, which is no task of srun's
  EXPECT_EQ(shown(place_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "1"}})), "0/1 0/1 :0");
}

TEST(RankInfo, FromEachLaunchersVariables) {
  const auto paddle = place_with(kPaddle);
  EXPECT_EQ(shown(paddle), "2/3 1/2 127.0.0.1:6170");
  EXPECT_THAT(paddle->endpoints, ElementsAre("127.0.0.1:6170", "127.0.0.2:6170", "127.0.0.2:6171"));
  EXPECT_EQ(shown(place_with(kTorch)), "3/4 1/2 node0:29500");
  const auto slurm = place_with(kSlurm);
  EXPECT_EQ(shown(slurm), fmt::format("5/7 1/2 cpu08:{}", slurm->master_port));
}

TEST(RankInfo, MpisRanksOfOneMachineMeetAtAPortOfTheirJob) {
  const auto first = place_with(with(kMpi, {{"PMIX_NAMESPACE", "1234"}})),
             second = place_with(with(kMpi, {{"PMIX_NAMESPACE", "1235"}}));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->master_host, "127.0.0.1");
  EXPECT_GE(first->master_port, 20000);
  EXPECT_LT(first->master_port, 30000);
  EXPECT_NE(first->master_port, second->master_port);
  EXPECT_EQ(shown(place_with(with(kMpi, {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "5"}}))), "1/2 1/2 a:5");
  EXPECT_EQ(
      shown(place_with(
          {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}, {"MASTER_PORT", "5"}})),
      "1/2 1/2 127.0.0.1:5");
}

TEST(RankInfo, PaddlesVariablesWinOverTorchrunsOverMpisOverSlurms) {
  Variables all = with(with(kPaddle, kTorch), with(kMpi, kSlurm));
  EXPECT_EQ(shown(place_with(all)), "2/3 1/2 127.0.0.1:6170");
  for (const auto& [name, value] : kPaddle) all.erase(name);
  EXPECT_EQ(shown(place_with(all)), "3/4 1/2 node0:29500");
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}) all.erase(name);
  EXPECT_EQ(shown(place_with(all)), "1/2 1/2 node0:29500");
  for (const auto& [name, value] : kMpi) all.erase(name);
  EXPECT_EQ(shown(place_with(all)), "5/7 1/2 node0:29500");
}

TEST(RankInfo, TheMeetingPlaceMayBeHosted) {
  EXPECT_FALSE(place_with(kTorch)->master_is_hosted);
  EXPECT_TRUE(place_with(with(kTorch, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}}))->master_is_hosted);
  // Paddle's endpoints name another place, at which nobody listens yet
  EXPECT_FALSE(place_with(with(kPaddle, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}}))->master_is_hosted);
}

// PyTorchJob says "localhost" to its first pod: rank 0 must listen where the other pods can come.
TEST(RankInfo, LocalhostIsNoPlaceToMeetForSeveralMachines) {
  const Variables pod = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "23456"}};
  EXPECT_EQ(place_with(pod)->master_host, own_address());
  EXPECT_EQ(place_with(with(pod, {{"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "2"}}))->master_host, "localhost");
}

TEST(RankInfo, APaddleJobWithoutEndpointsHasAMaster) {
  const Variables job = {{"PADDLE_TRAINER_ID", "1"}, {"PADDLE_TRAINERS_NUM", "2"}};
  EXPECT_EQ(shown(place_with(with(job, {{"PADDLE_MASTER", "[::1]:70"}}))), "1/2 0/1 ::1:70");
  EXPECT_EQ(shown(place_with(with(job, {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "7"}}))), "1/2 0/1 a:7");
  EXPECT_EQ(shown(place_with({{"PADDLE_TRAINER_ID", "0"}, {"PADDLE_TRAINERS_NUM", "1"}})), "0/1 0/1 :0");
}

TEST(RankInfo, DeviceRestartAndCheckpoint) {
  EXPECT_EQ(place_with({})->device, "");
  EXPECT_EQ(place_with({{"FLAGS_selected_gpus", "3"}})->device, "gpu:3");
  EXPECT_EQ(place_with({{"FLAGS_selected_gpus", "3"}, {"ARGOSY_DEVICE", "cpu"}})->device, "cpu");
  EXPECT_EQ(place_with(with(kTorch, {{"ARGOSY_DEVICE", "gpu"}}))->device, "gpu:1");
  EXPECT_EQ(place_with({{"ARGOSY_DEVICE", "gpu:2"}})->device, "gpu:2");
  const auto again = place_with({{"TORCHELASTIC_RESTART_COUNT", "2"}, {"ARGOSY_RESUME", "/data/epoch3"}});
  EXPECT_EQ(again->restart, 2);
  EXPECT_EQ(again->resume, "/data/epoch3");
}

struct BadCase {
  Variables variables;
  std::string message;
};

// The message as a word, for the name of its test.
std::string name_of(const BadCase& one) {
  std::string name;
  for (const char c : one.message) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (kept || (!name.empty() && name.back() != '_')) name += kept ? c : '_';
  }
  return name;
}
void PrintTo(const BadCase& one, std::ostream* out) { *out << name_of(one); }

class BadPlace : public testing::TestWithParam<BadCase> {};

TEST_P(BadPlace, IsNamed) {
  const auto place = place_with(GetParam().variables);
  ASSERT_FALSE(place.ok()) << shown(place);
  EXPECT_THAT(place.status().message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Variables, BadPlace,
    testing::Values(BadCase{{{"PADDLE_TRAINERS_NUM", "2"}}, "PADDLE_TRAINER_ID is not set"},
                    BadCase{{{"PADDLE_TRAINER_ID", "0"}}, "PADDLE_TRAINERS_NUM is not set"},
                    BadCase{{{"PADDLE_TRAINER_ID", "0"}, {"PADDLE_TRAINERS_NUM", "2"}}, "PADDLE_TRAINER_ENDPOINTS is not set"},
                    BadCase{with(kPaddle, {{"PADDLE_TRAINERS_NUM", "2"}}), "and PADDLE_TRAINERS_NUM='2' contradict each other"},
                    BadCase{with(kPaddle, {{"PADDLE_TRAINER_ID", "3"}}),
                            "PADDLE_TRAINER_ID='3': there are 3 processes, numbered from 0"},
                    BadCase{with(kPaddle, {{"PADDLE_TRAINER_ID", "1"}}),
                            "PADDLE_TRAINER_ID='1' and PADDLE_CURRENT_ENDPOINT='127.0.0.2:6171'"},
                    BadCase{with(kPaddle, {{"PADDLE_TRAINER_ENDPOINTS", "a:1,a:1,b:2"}}), "'a:1' occurs twice"},
                    BadCase{with(kPaddle, {{"PADDLE_TRAINER_ENDPOINTS", "a:1,b,c:2"}}), "'b' is not host:port"},
                    BadCase{with(kPaddle, {{"PADDLE_RANK_IN_NODE", "0"}}), "PADDLE_LOCAL_SIZE is not set"},
                    BadCase{{{"PADDLE_TRAINER_ID", "0"}, {"PADDLE_TRAINERS_NUM", "2"}, {"PADDLE_MASTER", "a"}},
                            "PADDLE_MASTER='a': expected host:port"},
                    BadCase{{{"RANK", "0"}}, "WORLD_SIZE is not set"}, BadCase{{{"WORLD_SIZE", "2"}}, "RANK is not set"},
                    BadCase{with(kTorch, {{"RANK", "4"}}), "RANK='4': there are 4 processes, numbered from 0"},
                    BadCase{with(kTorch, {{"RANK", "one"}}), "RANK='one': expected a whole number from 0"},
                    BadCase{with(kTorch, {{"LOCAL_RANK", "2"}}), "LOCAL_RANK='2': there are 2 processes on this machine"},
                    BadCase{with(kTorch, {{"LOCAL_WORLD_SIZE", ""}}), "LOCAL_WORLD_SIZE is not set"},
                    BadCase{with(kTorch, {{"LOCAL_WORLD_SIZE", "8"}}), "8 processes on this machine of 4 in all"},
                    BadCase{with(kTorch, {{"MASTER_ADDR", ""}}), "MASTER_ADDR is not set"},
                    BadCase{with(kTorch, {{"MASTER_PORT", ""}}), "MASTER_PORT is not set"},
                    BadCase{with(kTorch, {{"MASTER_PORT", "65536"}}), "MASTER_PORT='65536': expected a port"},
                    BadCase{with(kMpi, {{"OMPI_COMM_WORLD_LOCAL_RANK", ""}}), "OMPI_COMM_WORLD_LOCAL_RANK is not set"},
                    BadCase{with(kMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}),
                            "MASTER_ADDR is not set; with ranks on several machines"},
                    BadCase{with(kSlurm, {{"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}}), "SLURM_STEP_TASKS_PER_NODE='2(x2)'"},
                    BadCase{with(kSlurm, {{"SLURM_STEP_NODELIST", "a["}}), "SLURM_STEP_NODELIST: 'a[' is not a list"},
                    BadCase{with(kSlurm, {{"SLURM_STEP_NODELIST", ""}}), "SLURM_STEP_NODELIST is not set"},
                    BadCase{{{"ARGOSY_DEVICE", "tpu"}}, "ARGOSY_DEVICE='tpu': expected cpu, gpu or gpu:N"},
                    BadCase{{{"ARGOSY_DEVICE", "gpu:"}}, "ARGOSY_DEVICE='gpu:'"},
                    BadCase{{{"FLAGS_selected_gpus", "x"}}, "FLAGS_selected_gpus='x'"}),
    [](const auto& one) { return name_of(one.param); });

TEST(SlurmHosts, AreUnpacked) {
  EXPECT_THAT(*slurm_hosts("a"), ElementsAre("a"));
  EXPECT_THAT(*slurm_hosts("a[09-11,3],b,c1-[2]"), ElementsAre("a09", "a10", "a11", "a3", "b", "c1-2"));
  for (const char* bad : {"", ",", "a[", "a]", "a[]", "a[2-1]", "a[x]", "a[1-2]b", "a[1-99999999999]", "a[0-65536,1]", "a[1-2"})
    EXPECT_FALSE(slurm_hosts(bad).ok()) << bad;
}

}  // namespace
}  // namespace argosy
