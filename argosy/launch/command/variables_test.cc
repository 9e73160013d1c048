#include "argosy/launch/command/variables.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <optional>

extern char** environ;

namespace argosy::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Mode = CommandLine::Mode;
using Variables = std::map<std::string, std::string>;

// The environment as it was comes back with the end of the test.
class TakeVariables : public ::testing::Test {
 protected:
  ~TakeVariables() override {
    clear();
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

  // What `line` is with these variables of launchers, and no others; an error is in error_.
  CommandLine with(const Variables& variables, CommandLine line = {}) {
    clear();
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    const Status status = take_variables(line);
    error_ = status.ok() ? "" : status.message();
    return line;
  }
  std::string error_;

 private:
  static Variables clear() {
    Variables found;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      for (const char* start : {"PADDLE_", "PET_", "POD_IP", "FLAGS_START_PORT", "ARGOSY_JOB"}) {
        if (text.starts_with(start)) found.emplace(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
      }
    }
    for (const auto& [name, value] : found) ::unsetenv(name.c_str());
    return found;
  }
  const Variables before_ = clear();
};

TEST_F(TakeVariables, WithoutAnyNothingIsSaid) {
  const CommandLine line = with({});
  EXPECT_EQ(error_, "");
  EXPECT_EQ(line.mode, Mode::unsaid);
  EXPECT_FALSE(line.collective.nodes.given());
  EXPECT_TRUE(line.given.empty());
}

TEST_F(TakeVariables, OfPaddlesLauncherStandForItsOptions) {
  const CommandLine line = with({{"PADDLE_NNODES", "2:4"},
                                 {"PADDLE_MASTER", "10.0.0.1:7000"},
                                 {"PADDLE_RANK", "1"},
                                 {"PADDLE_DEVICES", "0,3"},
                                 {"PADDLE_JOB_ID", "ctr"},
                                 {"PADDLE_LOG_DIR", "elsewhere"},
                                 {"PADDLE_MAX_RESTART", "5"},
                                 {"PADDLE_START_PORT", "7070"}});
  ASSERT_EQ(error_, "");
  EXPECT_EQ(line.mode, Mode::collective);
  EXPECT_EQ(line.collective.nodes.least, 2);
  EXPECT_EQ(line.collective.nodes.most, 4);
  EXPECT_EQ(line.collective.nodes.meeting, "10.0.0.1:7000");
  EXPECT_EQ(line.collective.nodes.node_rank, 1);
  EXPECT_EQ(line.collective.nodes.started_port, 7070);
  EXPECT_THAT(line.collective.gpus, ElementsAre("0", "3"));
  EXPECT_EQ(line.collective.log_dir, "elsewhere");
  EXPECT_EQ(line.collective.max_restarts, 5);
  EXPECT_EQ(line.program.environment.at("ARGOSY_JOB"), "ctr");
}

TEST_F(TakeVariables, ServersAndWorkersMakeAJobWithServers) {
  const CommandLine line = with({{"PADDLE_SERVER_NUM", "2"}, {"PADDLE_TRAINER_NUM", "3"}});
  ASSERT_EQ(error_, "");
  EXPECT_EQ(line.mode, Mode::ps);
  EXPECT_EQ(line.given.at("server_num"), "2");
  EXPECT_EQ(line.given.at("worker_num"), "3");
}

// An image has the variable in every job, also in those with servers, which run on one machine.
TEST_F(TakeVariables, OneNodeSaysNothingOfAJobWithServers) {
  const CommandLine line = with({{"PADDLE_SERVER_NUM", "2"}, {"PADDLE_NNODES", "1"}});
  EXPECT_EQ(error_, "");
  EXPECT_EQ(line.mode, Mode::ps);
  EXPECT_EQ(with({{"PADDLE_NNODES", "1"}}).mode, Mode::collective);
  with({{"PADDLE_SERVER_NUM", "2"}, {"PADDLE_NNODES", "2"}});
  EXPECT_THAT(error_, HasSubstr("PADDLE_NNODES")) << "two of them contradict";
}

// A user who types an option means it, whatever the image has set.
TEST_F(TakeVariables, AnOptionWinsOverItsVariable) {
  CommandLine given;
  given.given["log_dir"] = "mine";
  given.collective.log_dir = "mine";
  EXPECT_EQ(with({{"PADDLE_LOG_DIR", "theirs"}, {"PADDLE_NNODES", "1"}}, given).collective.log_dir, "mine");
  EXPECT_EQ(error_, "");
  EXPECT_EQ(with({{"PADDLE_LOG_DIR", "theirs"}, {"PADDLE_NNODES", "1"}}).collective.log_dir, "theirs");
}

TEST_F(TakeVariables, AnErrorNamesTheVariable) {
  for (const auto& [name, value] : {std::pair("PADDLE_NNODES", "few"),
                                    {"PADDLE_RANK", "first"},
                                    {"PADDLE_MAX_RESTART", "-1"},
                                    {"PADDLE_DEVICES", "0,,1"},
                                    {"PADDLE_RUN_MODE", "mpi"},
                                    {"PADDLE_START_PORT", "http"},
                                    {"FLAGS_START_PORT", "70000"}}) {
    with({{name, value}});
    EXPECT_THAT(error_, ::testing::AllOf(HasSubstr(name), HasSubstr(value))) << name;
  }
}

// The job's name may be there in other words; two of them would be two jobs.
TEST_F(TakeVariables, AJobsNameIsTakenOnce) {
  const Variables both = {{"ARGOSY_JOB", "mine"}, {"PADDLE_JOB_ID", "theirs"}, {"PADDLE_NNODES", "1"}};
  EXPECT_FALSE(with(both).program.environment.contains("ARGOSY_JOB"));
  CommandLine named;
  named.program.environment["ARGOSY_JOB"] = "option";
  EXPECT_EQ(with({{"PADDLE_JOB_ID", "theirs"}, {"PADDLE_NNODES", "1"}}, named).program.environment.at("ARGOSY_JOB"), "option");
  EXPECT_EQ(with({{"PADDLE_JOB_ID", "theirs"}, {"PADDLE_NNODES", "1"}}).program.environment.at("ARGOSY_JOB"), "theirs");
}

// The address of this machine matters where there are several, and where it is one of a list.
TEST_F(TakeVariables, APodsAddressIsThatOfTheNode) {
  EXPECT_EQ(with({{"POD_IP", "10.0.0.2"}}).collective.nodes.node_ip, "") << "every pod has it";
  EXPECT_EQ(with({{"POD_IP", "10.0.0.2"}, {"PADDLE_NNODES", "1"}}).collective.nodes.node_ip, "");
  EXPECT_EQ(with({{"POD_IP", "10.0.0.2"}, {"PADDLE_NNODES", "2"}, {"PADDLE_MASTER", "a:1"}}).collective.nodes.node_ip,
            "10.0.0.2");
  EXPECT_EQ(with({{"POD_IP", "10.0.0.2"}, {"PADDLE_IPS", "10.0.0.1,10.0.0.2"}}).collective.nodes.node_ip, "10.0.0.2");
  EXPECT_EQ(with({{"POD_IP", "10.0.0.9"}, {"PADDLE_IPS", "10.0.0.1,10.0.0.2"}}).collective.nodes.node_ip, "")
      << "a list goes by the machine's own addresses";
}

TEST_F(TakeVariables, TheFirstNodeIsNamedWhereNodesAre) {
  EXPECT_EQ(with({{"PADDLE_MASTER", "a:1"}}).collective.nodes.meeting, "") << "of a job of one node";
  CommandLine given;
  given.collective.nodes.meeting = "mine:1";
  EXPECT_EQ(with({{"PADDLE_MASTER", "theirs:1"}, {"PADDLE_NNODES", "2"}}, given).collective.nodes.meeting, "mine:1");
}

TEST_F(TakeVariables, TorchrunsComeAfterWhatIsGiven) {
  const Variables torch = {
      {"PET_NNODES", "2"}, {"PET_NODE_RANK", "1"}, {"PET_RDZV_ENDPOINT", "a:29400"}, {"PET_MAX_RESTARTS", "4"}};
  const CommandLine taken = with(torch);
  ASSERT_EQ(error_, "");
  EXPECT_EQ(taken.mode, Mode::collective);
  EXPECT_EQ(taken.collective.nodes.most, 2);
  EXPECT_EQ(taken.collective.nodes.meeting, "a:29400");
  EXPECT_EQ(taken.collective.max_restarts, 4);
  CommandLine servers;
  servers.mode = Mode::ps;
  EXPECT_FALSE(with(torch, servers).collective.nodes.given()) << "a job with servers is none of torchrun's";
  Variables without = torch;
  without.erase("PET_NNODES");
  EXPECT_EQ(with(without).mode, Mode::unsaid) << "some are set by hand, for other programs";
}

// A job of one's own, inside of any other. Only the port is a matter of the machine.
TEST_F(TakeVariables, AStandaloneJobReadsThePortAlone) {
  CommandLine alone;
  alone.collective.nodes.standalone = true;
  const CommandLine line =
      with({{"PADDLE_NNODES", "4"}, {"PET_NNODES", "4"}, {"PADDLE_RANK", "x"}, {"FLAGS_START_PORT", "7170"}}, alone);
  EXPECT_EQ(error_, "");
  EXPECT_EQ(line.collective.nodes.most, std::nullopt);
  EXPECT_EQ(line.collective.nodes.started_port, 7170);
  alone.given["started_port"] = "8000";
  alone.collective.nodes.started_port = 8000;
  EXPECT_EQ(with({{"FLAGS_START_PORT", "7170"}}, alone).collective.nodes.started_port, 8000);
}

}  // namespace
}  // namespace argosy::launch
