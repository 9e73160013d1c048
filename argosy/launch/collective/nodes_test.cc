#include "argosy/launch/collective/nodes.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

namespace argosy::launch {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCloud[] = {"PADDLE_TRAINERS", "POD_IP", "PADDLE_TRAINER_ID", "PADDLE_PORT", "TRAINER_PORTS_NUM"};

class NodesTest : public testing::Test {
 protected:
  NodesTest() { forget(); }
  ~NodesTest() override { forget(); }
  static void forget() {
    for (const char* name : kCloud) ::unsetenv(name);
  }
  static void cloud(const std::map<std::string, std::string>& variables) {
    forget();
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }

  // "node 1 of 2..2 at 127.0.0.2, ports from 6170, meets at 127.0.0.1:6174", and "hosts" where it does
  static std::string found(const NodeOptions& options, const RankInfo& launcher = {}) {
    const auto nodes = find_nodes(options, 4, launcher);
    if (!nodes.ok()) return nodes.status().message();
    std::string text = fmt::format("node {} of {}..{} at '{}', ports from {}", nodes->rank, nodes->least, nodes->most,
                                   nodes->host, nodes->started_port.value_or(0));
    if (nodes->meeting.port != 0) text += ", meets at " + nodes->meeting.to_string();
    if (nodes->meeting.port != 0 && nodes->hosts_meeting != Nodes::Host::no)
      text += nodes->hosts_meeting == Nodes::Host::yes ? " hosts" : " hosts if free";
    return text;
  }
};

TEST_F(NodesTest, OneNode) {
  EXPECT_EQ(found({}), "node -1 of 1..1 at '', ports from 0");
  EXPECT_EQ(found({.ips = {"127.0.0.1"}}), "node 0 of 1..1 at '127.0.0.1', ports from 0");
  EXPECT_EQ(found({.started_port = 7000}), "node -1 of 1..1 at '', ports from 7000");
  EXPECT_EQ(found({.standalone = true}, {.rank = 1, .world_size = 2}), "node -1 of 1..1 at '', ports from 0");
}

// The commands of the document, one on each node.
TEST_F(NodesTest, ListedNodesMeetAtThePortAfterTheFirstOnesProcesses) {
  NodeOptions options{.ips = {"127.0.0.1", "127.0.0.2"}, .node_ip = "127.0.0.1", .started_port = 6170};
  EXPECT_EQ(found(options), "node 0 of 2..2 at '127.0.0.1', ports from 6170, meets at 127.0.0.1:6174 hosts");
  options.node_ip = "127.0.0.2";
  EXPECT_EQ(found(options), "node 1 of 2..2 at '127.0.0.2', ports from 6170, meets at 127.0.0.1:6174");
  options.started_port.reset();
  options.meeting = "127.0.0.1:9";
  EXPECT_EQ(found(options), "node 1 of 2..2 at '127.0.0.2', ports from 6170, meets at 127.0.0.1:9");
  EXPECT_EQ(found({.ips = {"192.0.2.7", "127.0.0.1"}}),
            "node 1 of 2..2 at '127.0.0.1', ports from 6170, meets at 192.0.2.7:6174");
}

TEST_F(NodesTest, CountedNodesMeetWhereTheFirstIs) {
  EXPECT_EQ(found({.most = 2, .node_rank = 0, .meeting = "192.0.2.7"}),
            "node 0 of 2..2 at '', ports from 0, meets at 192.0.2.7:29400 hosts");
  EXPECT_EQ(found({.most = 2, .node_rank = 1, .meeting = "127.0.0.1", .meeting_port = 5}),
            "node 1 of 2..2 at '', ports from 0, meets at 127.0.0.1:5");
  EXPECT_EQ(found({.least = 1, .most = 4, .meeting = "127.0.0.1:7"}),
            "node -1 of 1..4 at '', ports from 0, meets at 127.0.0.1:7 hosts if free");
  EXPECT_EQ(found({.node_ip = "127.0.0.2", .least = 1, .most = 4, .meeting = "127.0.0.1:7"}),
            "node -1 of 1..4 at '127.0.0.2', ports from 0, meets at 127.0.0.1:7");
  EXPECT_EQ(found({.most = 2, .meeting = "192.0.2.7:7"}), "node -1 of 2..2 at '', ports from 0, meets at 192.0.2.7:7");
}

TEST_F(NodesTest, PaddleCloudsNodes) {
  const std::map<std::string, std::string> pod = {{"PADDLE_TRAINERS", "127.0.0.1,127.0.0.2"},
                                                  {"POD_IP", "127.0.0.2"},
                                                  {"PADDLE_TRAINER_ID", "1"},
                                                  {"PADDLE_PORT", "6200"},
                                                  {"TRAINER_PORTS_NUM", "20"}};
  cloud(pod);
  const std::string expected = "node 1 of 2..2 at '127.0.0.2', ports from 6200, meets at 127.0.0.1:6219";
  EXPECT_EQ(found({.use_paddlecloud = true}), expected);
  EXPECT_EQ(found({}), expected);  // the variables alone say it
  EXPECT_EQ(found({.most = 1}), "node -1 of 1..1 at '', ports from 0");
  for (const char* name : kCloud) {
    auto without = pod;
    without.erase(name);
    cloud(without);
    if (std::string_view(name).find("PORT") == std::string_view::npos) {
      EXPECT_THAT(found({.use_paddlecloud = true}),
                  HasSubstr(fmt::format("--use_paddlecloud: environment variable {} is not set", name)));
    }
    EXPECT_EQ(found({}), "node -1 of 1..1 at '', ports from 0");
  }
  auto plain = pod;  // ports have defaults, as in Paddle
  plain.erase("PADDLE_PORT");
  plain.erase("TRAINER_PORTS_NUM");
  cloud(plain);
  EXPECT_THAT(found({.use_paddlecloud = true}), HasSubstr("node 1 of 2..2 at '127.0.0.2', ports from 6170"));
  auto wrong = pod;
  wrong["POD_IP"] = "127.0.0.1";
  cloud(wrong);
  EXPECT_THAT(found({}), HasSubstr("PADDLE_TRAINER_ID='1' and POD_IP='127.0.0.1' contradict each other"));
  wrong = pod;
  wrong["TRAINER_PORTS_NUM"] = "3";
  cloud(wrong);
  EXPECT_THAT(found({}), HasSubstr("TRAINER_PORTS_NUM='3': 4 processes need as many ports"));
  wrong["PADDLE_TRAINERS"] = "2";  // what it is in a job with parameter servers
  cloud(wrong);
  EXPECT_FALSE(has_cloud_nodes());
}

// mpirun, srun, torchrun, PyTorchJob: each launcher that they start is a node.
TEST_F(NodesTest, LaunchersThatSomebodyElseStarted) {
  RankInfo launcher{.rank = 1, .world_size = 2, .master_host = "node0", .master_port = 20001};
  EXPECT_EQ(found({}, launcher), "node 1 of 2..2 at '', ports from 0, meets at node0:20001");
  launcher.rank = 0;
  launcher.master_is_hosted = true;
  EXPECT_EQ(found({}, launcher),
            fmt::format("node 0 of 2..2 at '', ports from 0, meets at node0:{} hosts", port_for_job("node0:20001")));
  launcher = {.rank = 1, .world_size = 2, .master_host = "a", .master_port = 1, .endpoints = {"a:1", "b:1"}};
  EXPECT_EQ(found({}, launcher), "node 1 of 2..2 at 'b', ports from 0, meets at a:1");
}

TEST_F(NodesTest, WhatCannotBeIsNamed) {
  EXPECT_THAT(found({.ips = {"127.0.0.1", "127.0.0.2"}}),
              HasSubstr("127.0.0.1 and 127.0.0.2 are both this machine; say which node this is with --node_ip"));
  EXPECT_THAT(found({.ips = {"192.0.2.7", "192.0.2.8"}}), HasSubstr("none is an address of this machine"));
  EXPECT_THAT(found({.ips = {"127.0.0.1", "127.0.0.2"}, .node_ip = "127.0.0.3"}), HasSubstr("--node_ip 127.0.0.3 is not one of"));
  EXPECT_THAT(found({.ips = {"127.0.0.1", "127.0.0.1"}}), HasSubstr("a node occurs twice"));
  EXPECT_THAT(found({.ips = {"127.0.0.1"}, .most = 2}), HasSubstr("--ips lists 1 nodes and --nnodes says otherwise"));
  EXPECT_THAT(found({.ips = {"127.0.0.1"}, .node_rank = 1}), HasSubstr("--node_rank 1: by --ips 127.0.0.1 this is node 0"));
  EXPECT_THAT(found({.ips = {"127.0.0.1", "192.0.2.7"}, .started_port = 65533}),
              HasSubstr("the meeting place would be port 65537"));
  EXPECT_THAT(found({.most = 2}), HasSubstr("--nnodes 2 needs --rdzv_endpoint host:port"));
  EXPECT_THAT(found({.most = 2, .node_rank = 2, .meeting = "a"}), HasSubstr("--node_rank 2: the job has at most 2 nodes"));
  EXPECT_THAT(found({.most = 2, .meeting = "a:0"}), HasSubstr("--rdzv_endpoint"));
  EXPECT_THAT(found({.most = 2, .meeting = "a:1", .meeting_port = 2}),
              HasSubstr("--rdzv_endpoint a:1 and --master_port 2: leave one out"));
}

}  // namespace
}  // namespace argosy::launch
