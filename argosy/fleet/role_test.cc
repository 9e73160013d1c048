#include "argosy/fleet/role.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <map>

namespace argosy::fleet {
namespace {

// The process environment with exactly these of the variables that roles read.
class Environment {
 public:
  explicit Environment(std::map<std::string, std::string> variables) {
    for (const char* name :
         {"TRAINING_ROLE", "PADDLE_TRAINING_ROLE", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_PSERVER_IPS", "PADDLE_PSERVER_PORT",
          "PADDLE_TRAINERS_NUM", "PADDLE_TRAINERS", "PADDLE_TRAINER_ID", "PADDLE_TRAINER_ENDPOINTS", "POD_IP", "PADDLE_PORT",
          "PADDLE_CURRENT_IP", "PADDLE_CURRENT_ENDPOINT", "PADDLE_PSERVER_ID"}) {
      unsetenv(name);
    }
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
};

const std::map<std::string, std::string> kWorker = {{"TRAINING_ROLE", "TRAINER"},
                                                    {"PADDLE_PSERVERS_IP_PORT_LIST", "127.0.0.1:6001,127.0.0.1:6002"},
                                                    {"PADDLE_TRAINERS_NUM", "2"},
                                                    {"PADDLE_TRAINER_ID", "1"}};

std::map<std::string, std::string> with(std::map<std::string, std::string> base, std::map<std::string, std::string> more) {
  more.merge(base);
  return more;
}

TEST(PaddleCloudRole, AWorkerFromLaunchPs) {
  const Environment environment(kWorker);
  const auto role = paddle_cloud_role();
  ASSERT_TRUE(role.ok()) << role.status().message();
  EXPECT_EQ(role->role, Role::worker);
  EXPECT_EQ(role->index, 1);
  EXPECT_EQ(role->worker_count, 2);
  EXPECT_EQ(role->server_endpoints, (std::vector<std::string>{"127.0.0.1:6001", "127.0.0.1:6002"}));
}

TEST(PaddleCloudRole, AServerFindsItselfByAddress) {
  const Environment environment({{"PADDLE_TRAINING_ROLE", "PSERVER"},
                                 {"PADDLE_PSERVER_IPS", "127.0.0.1,127.0.0.2"},
                                 {"PADDLE_PSERVER_PORT", "6174"},
                                 {"PADDLE_TRAINERS", "2"},
                                 {"PADDLE_CURRENT_IP", "127.0.0.2"}});
  const auto role = paddle_cloud_role();
  ASSERT_TRUE(role.ok()) << role.status().message();
  EXPECT_EQ(role->role, Role::server);
  EXPECT_EQ(role->index, 1);
}

// All that paddle-operator sets, for both roles: PADDLE_TRAINERS are hosts there.
TEST(PaddleOperator, ItsVariablesAreARole) {
  const std::map<std::string, std::string> common = {{"PADDLE_TRAINERS", "10.0.0.3,10.0.0.4"},
                                                     {"PADDLE_TRAINERS_NUM", "2"},
                                                     {"PADDLE_TRAINER_ENDPOINTS", "10.0.0.3:2379,10.0.0.4:2379"},
                                                     {"PADDLE_PSERVERS_IP_PORT_LIST", "10.0.0.1:2379,10.0.0.2:2379"},
                                                     {"PADDLE_PORT", "2379"},
                                                     {"PADDLE_TRAINER_ID", "1"}};
  {
    const Environment worker(with(common, {{"TRAINING_ROLE", "TRAINER"}, {"POD_IP", "10.0.0.4"}}));
    const auto role = paddle_cloud_role();
    ASSERT_TRUE(role.ok()) << role.status().message();
    EXPECT_EQ(role->worker_count, 2);
    EXPECT_EQ(role->index, 1);
  }
  const Environment server(with(common, {{"TRAINING_ROLE", "PSERVER"}, {"POD_IP", "10.0.0.2"}, {"PADDLE_TRAINERS_NUM", ""}}));
  const auto role = paddle_cloud_role();
  ASSERT_TRUE(role.ok()) << role.status().message();
  EXPECT_EQ(role->worker_count, 2);
  EXPECT_EQ(role->role, Role::server);
  EXPECT_EQ(role->index, 1);
}

struct BadCase {
  std::map<std::string, std::string> variables;
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

class BadEnvironment : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadEnvironment, IsNamed) {
  const Environment environment(GetParam().variables);
  const auto role = paddle_cloud_role();
  ASSERT_FALSE(role.ok());
  EXPECT_NE(role.status().message().find(GetParam().message), std::string::npos) << role.status().message();
}

const std::map<std::string, std::string> kServer = {{"TRAINING_ROLE", "PSERVER"},
                                                    {"PADDLE_PSERVERS_IP_PORT_LIST", "127.0.0.1:6001,127.0.0.1:6002"},
                                                    {"PADDLE_TRAINERS_NUM", "2"}};

INSTANTIATE_TEST_SUITE_P(
    AnyRole, BadEnvironment,
    ::testing::Values(
        BadCase{{}, "TRAINING_ROLE is not set (nor PADDLE_TRAINING_ROLE)"},
        BadCase{with(kWorker, {{"TRAINING_ROLE", "BOSS"}}), "TRAINING_ROLE='BOSS': expected TRAINER or PSERVER"},
        BadCase{with(kWorker, {{"TRAINING_ROLE", ""}, {"PADDLE_TRAINING_ROLE", "BOSS"}}),
                "PADDLE_TRAINING_ROLE='BOSS': expected"},
        BadCase{with(kWorker, {{"PADDLE_TRAINING_ROLE", "PSERVER"}}),
                "TRAINING_ROLE='TRAINER' and PADDLE_TRAINING_ROLE='PSERVER' contradict each other"},
        BadCase{with(kWorker, {{"PADDLE_TRAINERS_NUM", "0"}}), "PADDLE_TRAINERS_NUM='0': expected a whole number from 1"},
        BadCase{with(kWorker, {{"PADDLE_TRAINERS_NUM", ""}}), "PADDLE_TRAINERS_NUM is not set (nor PADDLE_TRAINERS)"},
        BadCase{with(kWorker, {{"PADDLE_TRAINERS_NUM", ""}, {"PADDLE_TRAINERS", "many"}}), "PADDLE_TRAINERS='many': expected"},
        BadCase{with(kWorker, {{"PADDLE_TRAINERS", "a,b,c"}}),
                "PADDLE_TRAINERS_NUM='2' and the number of hosts of PADDLE_TRAINERS='a,b,c',='3' contradict"},
        BadCase{with(kWorker, {{"PADDLE_TRAINERS", "3"}}), "PADDLE_TRAINERS_NUM='2' and PADDLE_TRAINERS='3' contradict"},
        BadCase{with(kWorker, {{"PADDLE_PSERVERS_IP_PORT_LIST", ""}}), "PADDLE_PSERVERS_IP_PORT_LIST is not set"},
        BadCase{with(kWorker, {{"PADDLE_PSERVERS_IP_PORT_LIST", ""}, {"PADDLE_PSERVER_IPS", "a"}}),
                "PADDLE_PSERVER_PORT is not set"},
        BadCase{
            with(kWorker, {{"PADDLE_PSERVER_IPS", "a"}, {"PADDLE_PSERVER_PORT", "1"}}),
            "PADDLE_PSERVERS_IP_PORT_LIST='127.0.0.1:6001,127.0.0.1:6002' and PADDLE_PSERVER_IPS with PADDLE_PSERVER_PORT='a:1'"},
        BadCase{with(kWorker, {{"PADDLE_PSERVERS_IP_PORT_LIST", "127.0.0.1"}}),
                "environment variable PADDLE_PSERVERS_IP_PORT_LIST: server endpoint '127.0.0.1' is not host:port"},
        BadCase{with(kWorker, {{"PADDLE_PSERVERS_IP_PORT_LIST", "a:1,a:1"}}), "'a:1' is listed twice"}),
    [](const auto& one) { return name_of(one.param); });

INSTANTIATE_TEST_SUITE_P(
    Workers, BadEnvironment,
    ::testing::Values(
        BadCase{with(kWorker, {{"PADDLE_TRAINER_ID", ""}}), "PADDLE_TRAINER_ID is not set"},
        BadCase{with(kWorker, {{"PADDLE_TRAINER_ID", "2"}}), "PADDLE_TRAINER_ID='2': there are 2 workers, numbered from 0"},
        BadCase{with(kWorker, {{"PADDLE_TRAINER_ID", "-1"}}), "PADDLE_TRAINER_ID='-1': expected a whole number from 0"},
        BadCase{with(kWorker, {{"PADDLE_TRAINER_ENDPOINTS", "a:1"}}),
                "PADDLE_TRAINER_ENDPOINTS='a:1' and PADDLE_TRAINERS_NUM='2' contradict each other"},
        BadCase{with(kWorker, {{"PADDLE_TRAINER_ENDPOINTS", "a:1,a:2"}, {"PADDLE_CURRENT_ENDPOINT", "a:1"}}),
                "PADDLE_TRAINER_ID='1' and PADDLE_CURRENT_ENDPOINT='a:1' contradict each other: that worker's endpoint is 'a:2'"},
        BadCase{with(kWorker, {{"PADDLE_TRAINER_ENDPOINTS", "a:1,a:2"}, {"POD_IP", "a"}, {"PADDLE_PORT", "1"}}),
                "PADDLE_TRAINER_ID='1' and POD_IP with PADDLE_PORT='a:1' contradict each other: that is worker 0"}),
    [](const auto& one) { return name_of(one.param); });

INSTANTIATE_TEST_SUITE_P(
    Servers, BadEnvironment,
    ::testing::Values(
        BadCase{kServer, "cannot tell which of 127.0.0.1:6001,127.0.0.1:6002 it is"},
        BadCase{with(kServer, {{"POD_IP", "127.0.0.1"}}), "or PADDLE_PSERVER_ID; found only POD_IP='127.0.0.1'"},
        BadCase{with(kServer, {{"PADDLE_PSERVER_ID", "1"}, {"PADDLE_PORT", "6001"}}),
                "PADDLE_PSERVER_ID='1' and PADDLE_PORT='6001' contradict each other: that server is 127.0.0.1:6002"},
        BadCase{with(kServer, {{"POD_IP", "127.0.0.1"}, {"PADDLE_PORT", "9"}}),
                "POD_IP with PADDLE_PORT say this server is 127.0.0.1:9"},
        BadCase{with(kServer, {{"PADDLE_PSERVER_ID", "2"}}), "PADDLE_PSERVER_ID='2': there are 2 servers, numbered from 0"},
        BadCase{with(kServer, {{"PADDLE_CURRENT_ENDPOINT", "127.0.0.1:6002"}, {"PADDLE_PSERVER_ID", "0"}}),
                "PADDLE_PSERVER_ID='0' and PADDLE_CURRENT_ENDPOINT='127.0.0.1:6002' contradict each other: that is server 1"},
        BadCase{with(kServer, {{"PADDLE_CURRENT_ENDPOINT", "127.0.0.1:6002"}, {"POD_IP", "127.0.0.1"}, {"PADDLE_PORT", "6001"}}),
                "PADDLE_CURRENT_ENDPOINT='127.0.0.1:6002' and POD_IP with PADDLE_PORT='127.0.0.1:6001' contradict each other"}),
    [](const auto& one) { return name_of(one.param); });

// The list may have names where the process knows its address only.
TEST(PaddleCloudRole, AServerFindsItselfUnderAName) {
  const Environment environment(with(kServer, {{"PADDLE_PSERVERS_IP_PORT_LIST", "elsewhere.invalid:6001, localhost:6001"},
                                               {"POD_IP", "127.0.0.1"},
                                               {"PADDLE_PORT", "6001"}}));
  const auto role = paddle_cloud_role();
  ASSERT_TRUE(role.ok()) << role.status().message();
  EXPECT_EQ(role->index, 1);
  EXPECT_EQ(role->server_endpoints, (std::vector<std::string>{"elsewhere.invalid:6001", "localhost:6001"}));
}

TEST(UserDefinedRole, ServersAreRequiredAndIndicesChecked) {
  EXPECT_TRUE(user_defined_role(0, Role::worker, 3, {"127.0.0.1:6001"}).ok());
  EXPECT_FALSE(user_defined_role(0, Role::worker, 3, {}).ok());
  EXPECT_FALSE(user_defined_role(1, Role::server, 3, {"127.0.0.1:6001"}).ok());
}

}  // namespace
}  // namespace argosy::fleet
