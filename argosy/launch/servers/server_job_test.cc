#include "argosy/launch/servers/server_job.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "argosy/base/address.h"

namespace argosy::launch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

const TrainingProgram kProgram = {.command = {"./train", "--lr", "1"}, .kind = TrainingProgram::Kind::executable};

std::string error_of(const ServerJobOptions& options, const TrainingProgram& program = kProgram) {
  const auto job = make_job(options, program);
  return job.ok() ? "" : job.status().message();
}

std::vector<std::string> names(const std::vector<ProcessSpec>& processes) {
  std::vector<std::string> result;
  for (const ProcessSpec& process : processes) result.push_back(process.name);
  return result;
}

// As the launcher of 1.8 has it: the numbers are of each machine, and only this one's processes are started.
TEST(ServerJob, MachinesHaveEquallyManyProcesses) {
  ServerJobOptions wanted{
      .server_num = 1, .worker_num = 2, .hosts = {"10.9.0.1", "10.9.0.2"}, .node_ip = "10.9.0.2", .start_port = 6200};
  const auto job = make_job(wanted, kProgram);
  ASSERT_TRUE(job.ok()) << job.status().message();
  EXPECT_THAT(names(job->servers), ElementsAre("server 1"));
  EXPECT_THAT(names(job->workers), ElementsAre("worker 2", "worker 3"));
  EXPECT_TRUE(job->has_other_workers);
  const auto& environment = job->workers[0].environment;
  EXPECT_THAT(environment, Contains(Pair("PADDLE_PSERVERS_IP_PORT_LIST", "10.9.0.1:6200,10.9.0.2:6200")));
  EXPECT_THAT(environment, Contains(Pair("PADDLE_TRAINER_ENDPOINTS", "10.9.0.1:6201,10.9.0.1:6202,10.9.0.2:6201,10.9.0.2:6202")));
  wanted.servers = {"10.9.0.1:1"};
  EXPECT_EQ(error_of(wanted), "--servers lists them, and --ips the machines; leave one out");
}

// replicas=1: a second process for each server, with its server's variables but for the seat.
TEST(ServerJob, EveryServerHasAFollower) {
  ServerJobOptions wanted;
  wanted.worker_num = 1;
  wanted.start_port = 6200;
  TrainingProgram program = kProgram;
  program.environment = {{"ARGOSY_REPLICAS", "1"}, {"ARGOSY_DIRECTORY", "kept"}};
  const auto job = make_job(wanted, program);
  ASSERT_TRUE(job.ok()) << job.status().message();
  ASSERT_THAT(names(job->servers), ElementsAre("server 0", "server 1", "follower 0", "follower 1"));
  EXPECT_TRUE(job->is_whole);
  EXPECT_THAT(job->all_followers, ElementsAre("127.0.0.1:6203", "127.0.0.1:6204"));
  const ProcessSpec &server = job->servers[1], &follower = job->servers[3];
  EXPECT_THAT(server.environment, Not(Contains(testing::Key("ARGOSY_SEAT"))));
  EXPECT_THAT(follower.environment, Contains(Pair("ARGOSY_SEAT", "follower")));
  EXPECT_THAT(follower.environment, Contains(Pair("PADDLE_CURRENT_ENDPOINT", "127.0.0.1:6201")));
  EXPECT_THAT(job->workers[0].environment, Contains(Pair("ARGOSY_FOLLOWERS", "127.0.0.1:6203,127.0.0.1:6204")));
  EXPECT_EQ(follower.log, "logs/followerlog.1");
  // What people are shown: each process at its own address.
  EXPECT_EQ(listening_endpoint(server), "127.0.0.1:6201");
  EXPECT_EQ(listening_endpoint(follower), "127.0.0.1:6204");
  EXPECT_EQ(listening_endpoint(ProcessSpec{.name = "worker 0"}), "");
}

TEST(ServerJob, AFollowerIsOnTheNextMachine) {
  const ServerJobOptions wanted{
      .server_num = 1, .worker_num = 2, .hosts = {"10.9.0.1", "10.9.0.2"}, .node_ip = "10.9.0.2", .start_port = 6200};
  TrainingProgram program = kProgram;
  program.environment = {{"ARGOSY_REPLICAS", "1"}, {"ARGOSY_DIRECTORY", "kept"}};
  const auto job = make_job(wanted, program);
  ASSERT_TRUE(job.ok()) << job.status().message();
  EXPECT_THAT(job->all_followers, ElementsAre("10.9.0.2:6203", "10.9.0.1:6203"));
  EXPECT_THAT(names(job->servers), ElementsAre("server 1", "follower 0"));
}

TEST(ServerJob, ListsOfServersNeedOnesOfFollowers) {
  ServerJobOptions wanted{.servers = {"127.0.0.1:6200", "127.0.0.1:6201"}, .workers = {"127.0.0.1"}};
  TrainingProgram program = kProgram;
  program.environment = {{"ARGOSY_REPLICAS", "1"}, {"ARGOSY_DIRECTORY", "kept"}};
  EXPECT_THAT(error_of(wanted, program), HasSubstr("list the followers' host:port too, with --followers"));
  program.environment["ARGOSY_FOLLOWERS"] = "127.0.0.1:6300";
  EXPECT_EQ(error_of(wanted, program), "--followers lists 1, and the job has 2 servers; list one per server");
  program.environment["ARGOSY_FOLLOWERS"] = "127.0.0.1:6300,127.0.0.1:6201";
  EXPECT_EQ(error_of(wanted, program), "--followers: '127.0.0.1:6201' is another process's endpoint too");
  program.environment["ARGOSY_FOLLOWERS"] = "127.0.0.1:6300,127.0.0.1";
  EXPECT_EQ(error_of(wanted, program), "--followers: '127.0.0.1' is not host:port");
  program.environment["ARGOSY_FOLLOWERS"] = "127.0.0.1:6300,127.0.0.1:6301";
  EXPECT_EQ(error_of(wanted, program), "");
}

TEST(ServerJob, EveryProcessKnowsItsRole) {
  ServerJobOptions wanted;
  wanted.worker_num = 1;
  wanted.start_port = 6200;
  TrainingProgram program = kProgram;
  program.environment = {{"ARGOSY_MEM_LIMIT", "8G"}};
  const auto job = make_job(wanted, program);
  ASSERT_TRUE(job.ok()) << job.status().message();
  ASSERT_THAT(names(job->servers), ElementsAre("server 0", "server 1"));
  ASSERT_THAT(names(job->workers), ElementsAre("worker 0"));
  EXPECT_FALSE(job->has_other_workers);
  const ProcessSpec &server = job->servers[1], &worker = job->workers[0];
  EXPECT_EQ(server.environment,
            (std::map<std::string, std::string>{{"ARGOSY_MEM_LIMIT", "8G"},
                                                {"PADDLE_CURRENT_ENDPOINT", "127.0.0.1:6201"},
                                                {"PADDLE_PORT", "6201"},
                                                {"PADDLE_PSERVERS_IP_PORT_LIST", "127.0.0.1:6200,127.0.0.1:6201"},
                                                {"PADDLE_PSERVER_ID", "1"},
                                                {"PADDLE_TRAINERS_NUM", "1"},
                                                {"PADDLE_TRAINER_ENDPOINTS", "127.0.0.1:6202"},
                                                {"POD_IP", "127.0.0.1"},
                                                {"TRAINING_ROLE", "PSERVER"}}));
  EXPECT_EQ(server.log, "logs/serverlog.1");
  EXPECT_THAT(server.command, ElementsAre("./train", "--lr", "1"));
  EXPECT_THAT(worker.environment, Contains(Pair("TRAINING_ROLE", "TRAINER")));
  EXPECT_THAT(worker.environment, Contains(Pair("PADDLE_TRAINER_ID", "0")));
  EXPECT_EQ(worker.log, "logs/workerlog.0");
  // A shell that was itself a job's process must not confuse the new one.
  EXPECT_THAT(worker.without, Contains("PADDLE_PSERVER_ID"));
  EXPECT_THAT(worker.without, Contains("PADDLE_TRAINING_ROLE"));
}

TEST(ServerJob, OneMachinesPartOfAList) {
  ServerJobOptions wanted;
  wanted.servers = {"127.0.0.1:6200", "127.0.0.2:6200"};
  wanted.workers = {"127.0.0.1", "127.0.0.2"};
  wanted.node_ip = "127.0.0.2";
  const auto job = make_job(wanted, kProgram);
  ASSERT_TRUE(job.ok()) << job.status().message();
  EXPECT_THAT(names(job->servers), ElementsAre("server 1"));
  EXPECT_THAT(names(job->workers), ElementsAre("worker 1"));
  EXPECT_TRUE(job->has_other_workers);
  EXPECT_THAT(job->workers[0].environment, Contains(Pair("PADDLE_TRAINER_ENDPOINTS", "127.0.0.1:6172,127.0.0.2:6173")));

  wanted.node_ip.clear();  // both are this machine
  EXPECT_EQ(make_job(wanted, kProgram)->servers.size(), 2u);
  wanted.workers = {"192.0.2.7:1"};  // an address kept for documents, nobody's
  EXPECT_THAT(make_job(wanted, kProgram)->workers, IsEmpty());
}

// Two jobs of one machine need no flag: the second one's servers take ports that are free.
TEST(ServerJob, TakesOtherPortsWhereSomebodyListensOnTheStandardOnes) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(6171);
  (void)::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);  // or another process has it
  (void)::listen(fd, 1);
  auto job = make_job({}, kProgram);
  ASSERT_TRUE(job.ok()) << job.status().message();
  EXPECT_THAT(job->servers[0].environment.at("PADDLE_PSERVERS_IP_PORT_LIST"), Not(HasSubstr(":6171")));
  EXPECT_TRUE(claim_ports(*job).ok());
  ServerJobOptions asked;
  asked.start_port = 6170;
  auto at_the_same = make_job(asked, kProgram);
  EXPECT_THAT(claim_ports(*at_the_same).message(), HasSubstr("with --start_port"));
  ::close(fd);
}

std::string servers_of(const ServerJob& job) { return job.servers[0].environment.at("PADDLE_PSERVERS_IP_PORT_LIST"); }

// Nobody listens yet when the second one chooses, and again when the first one's servers are started anew.
TEST(ServerJob, TwoAtOnceNeverHaveAPortInCommon) {
  auto first = make_job({}, kProgram), second = make_job({}, kProgram);
  ASSERT_TRUE(first.ok() && second.ok());
  // Who is no launcher may have come to listen at one of them.
  Status claimed = claim_ports(*first);
  for (int tries = 0; !claimed.ok() && tries < 20; ++tries) {
    first = make_job({}, kProgram);
    ASSERT_TRUE(first.ok());
    claimed = claim_ports(*first);
  }
  ASSERT_TRUE(claimed.ok()) << claimed.message();
  EXPECT_NE(servers_of(*first), servers_of(*second));
  EXPECT_NE(first->workers[0].environment.at("PADDLE_TRAINER_ENDPOINTS"),
            second->workers[0].environment.at("PADDLE_TRAINER_ENDPOINTS"));
  ServerJobOptions same;
  same.servers = {Address::parse(first->servers[1].environment.at("PADDLE_CURRENT_ENDPOINT"))->to_string()};
  auto third = make_job(same, kProgram);
  ASSERT_TRUE(third.ok());
  EXPECT_THAT(claim_ports(*third).message(), HasSubstr("another job of this machine has 127.0.0.1:"));
  first = Status::cancelled("it has ended");
  EXPECT_TRUE(claim_ports(*third).ok());
}

TEST(ServerJob, WhatCannotBeIsNamed) {
  ServerJobOptions wanted;
  EXPECT_THAT(error_of(wanted, {}), HasSubstr("name the training script"));
  EXPECT_THAT(error_of(wanted, {.command = {"absent.py"}}), HasSubstr("there is no script 'absent.py'"));
  wanted.servers = {"127.0.0.1"};
  EXPECT_EQ(error_of(wanted), "--servers: '127.0.0.1' is not host:port");
  wanted.servers = {"127.0.0.1:1", "127.0.0.1:1"};
  EXPECT_EQ(error_of(wanted), "--servers lists '127.0.0.1:1' twice");
  wanted.servers = {"127.0.0.1:1"};
  wanted.server_num = 2;
  EXPECT_EQ(error_of(wanted), "--servers lists 1 and --server_num says 2; leave one out");
  wanted = {};
  wanted.start_port = 65534;
  EXPECT_EQ(error_of(wanted), "--start_port 65534: the job would need ports up to 65537");
  wanted = {};
  wanted.node_ip = "192.0.2.7";
  EXPECT_THAT(error_of(wanted), HasSubstr("is 192.0.2.7; see --node_ip"));
}

}  // namespace
}  // namespace argosy::launch
