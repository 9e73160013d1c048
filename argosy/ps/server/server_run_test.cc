// Whom a server listens to: the processes of its own run, and no other.
#include "argosy/ps/server/server_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/ps/client/cluster_test.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

const JobSpec kSpec = scratch::job(Mode::async, 2, {counting_rows()});

ServerOptions options_of(const std::string& run, int server = 0, int servers = 1) {
  ServerOptions options = InProcess::options();
  options.run = run;
  options.server = server;
  options.servers = servers;
  return options;
}

Worker worker_of(InProcess& process, const std::string& run, int index = 0, int server = 0, int servers = 1) {
  Worker worker = process.worker(kSpec, index);
  worker.set_run(run);
  worker.set_server(server, servers);
  return worker;
}

TEST(Runs, AWorkerOfAnotherRunIsRefusedByNameAtItsFirstMessage) {
  InProcess process(options_of("aaaa"));
  Worker stranger = worker_of(process, "bbbb");
  const Status refused = stranger.hello().status();
  EXPECT_EQ(refused.code(), Code::failed_precondition);
  EXPECT_THAT(refused.message(), HasSubstr("worker 0 (host:"));
  EXPECT_THAT(refused.message(), HasSubstr("the server belongs to run aaaa, the worker to run bbbb"));
  ASSERT_OK(worker_of(process, "aaaa").hello());
}

// Where the launcher has given everybody an id, one without is not of this run.
TEST(Runs, AServerWithAGivenIdTellsItToNobody) {
  InProcess process(options_of("aaaa"));
  EXPECT_THAT(worker_of(process, "").hello().status().message(), HasSubstr("belongs to run aaaa, and the worker names none"));
}

// Incarnations count from 1 in every new state: the id alone tells an old worker from a new one.
TEST(Runs, AWorkerThatStillWaitsForItsDeadServerIsRefusedByTheNextOneAtItsAddress) {
  InProcess process(options_of("", 0));
  Worker old_worker = worker_of(process, "");
  ASSERT_OK(old_worker.hello());
  ASSERT_OK(old_worker.push({batch_id(0, 0)}, {count_at({7})}));
  process.restart();  // without a directory: another run begins
  const Status early = old_worker.push({batch_id(0, 1)}, {count_at({7})}).status();
  EXPECT_EQ(early.code(), Code::failed_precondition) << "nobody has said hello yet";
  Worker new_worker = worker_of(process, "");
  ASSERT_OK(new_worker.hello());
  ASSERT_EQ(new_worker.incarnation(), old_worker.incarnation());
  const Status late = old_worker.push({batch_id(0, 1)}, {count_at({7})}).status();
  EXPECT_EQ(late.code(), Code::failed_precondition);
  EXPECT_THAT(late.message(), HasSubstr("an earlier run left the worker behind"));
  EXPECT_EQ(old_worker.goodbye().code(), Code::failed_precondition);
  EXPECT_EQ(old_worker.heartbeat().code(), Code::failed_precondition);
  EXPECT_THAT(*new_worker.pull_rows(0, {7}), ElementsAre(0, 0));
}

TEST(Runs, Server0DrawsTheIdAndTheOthersTakeItFromAWorker) {
  InProcess first(options_of("", 0, 2)), second(options_of("", 1, 2));
  Worker lost = worker_of(second, "", 0, 1, 2);
  EXPECT_THAT(lost.hello().status().message(), HasSubstr("server 0 tells a worker which it is"));

  Worker worker = worker_of(first, "", 0, 0, 2);
  const auto drawn = worker.hello();
  ASSERT_OK(drawn);
  EXPECT_EQ(drawn->run().size(), 16u);
  const auto carried = worker_of(second, drawn->run(), 0, 1, 2).hello();
  ASSERT_OK(carried);
  EXPECT_EQ(carried->run(), drawn->run());
  EXPECT_THAT(worker_of(second, "bbbb", 1, 1, 2).hello().status().message(),
              HasSubstr("belongs to run " + drawn->run() + ", the worker to run bbbb"));
}

// A Hello that is refused for another reason must not decide which run a server belongs to.
TEST(Runs, ARefusedHelloDoesNotDecideTheRun) {
  InProcess second(options_of("", 1, 2));
  Worker wrong_place = worker_of(second, "bbbb", 0, 0, 2);
  EXPECT_FALSE(wrong_place.hello().ok());
  ASSERT_OK(worker_of(second, "aaaa", 0, 1, 2).hello());
}

// A process that is started again within a run goes on in it: the id is in the log, and in snapshots.
TEST(Runs, AServerStartedAgainOnItsDirectoryIsOfTheSameRun) {
  for (const Durability durability : {Durability::wal, Durability::snapshot}) {
    for (const int server : {0, 1}) {
      SCOPED_TRACE(testing::Message() << durability_name(durability) << ", server " << server);
      const scratch::Folder folder;
      ServerOptions options = options_of("", server, 2);
      options.directory = folder.path();
      options.durability = durability;
      InProcess process(options);
      Worker worker = worker_of(process, server == 0 ? "" : "cccc", 0, server, 2);
      ASSERT_OK(worker.hello());
      uint64_t key = 7;
      while (server_of(key, 2) != server) ++key;
      ASSERT_OK(worker.push({batch_id(0, 0)}, {count_at({key})}));
      if (durability == Durability::snapshot) ASSERT_OK(process.server->stop());
      process.restart();
      ASSERT_OK(worker.push({batch_id(0, 1)}, {count_at({key})}));
      EXPECT_THAT(worker_of(process, "bbbb", 1, server, 2).hello().status().message(), HasSubstr("the worker to run bbbb"));
    }
  }
}

TEST(Runs, AClientCarriesTheIdOfServer0ToAllOthers) {
  Cluster cluster(3);
  auto first = Client::connect(cluster.client(0), kSpec);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ((*first)->run().size(), 16u);
  auto second = Client::connect(cluster.client(1), kSpec);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ((*second)->run(), (*first)->run());
  ClientOptions other = cluster.client(0);
  other.run = "bbbb";
  EXPECT_THAT(Client::connect(other, kSpec).status().message(), HasSubstr("the worker to run bbbb"));
}

// It got the old run's id, then all servers were ended and started again: it must not bring the old id to the new server 1.
TEST(Runs, AClientThatWaitsForServer1DoesNotCarryTheIdOfADeadServer0) {
  Cluster cluster(2);
  cluster.kill(1);
  std::atomic<bool> ended = false;
  Status status;
  std::thread waiting([&] {
    status = Client::connect(cluster.client(0), kSpec).status();
    ended = true;
  });
  ASSERT_TRUE(wait_for([&] { return cluster.refused(1) > 0; }));  // it has greeted server 0
  cluster.kill(0);
  cluster.start(0);
  ASSERT_TRUE(wait_for([&] { return ended.load(); }));
  waiting.join();
  EXPECT_EQ(status.code(), Code::failed_precondition);
  EXPECT_THAT(status.message(), HasSubstr("do not belong together"));
  cluster.start(1);
  ASSERT_OK(Client::connect(cluster.client(0), kSpec));
}

}  // namespace
}  // namespace argosy::ps
