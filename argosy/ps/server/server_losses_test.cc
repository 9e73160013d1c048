// The last push of a worker that is lost under on_worker_loss=shrink: on all servers or on none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "argosy/ps/client/loss_settler.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::Each;
using testing::ElementsAre;

// Two servers that share no disk, as two workers see them. Worker 1 will be lost.
class ServerLosses : public testing::Test {
 protected:
  ServerLosses() {
    for (int i = 0; i < 2; ++i) {
      ServerOptions options = InProcess::options();
      options.server = i;
      options.servers = 2;
      options.lease_seconds = 1000;
      options.on_worker_loss = OnWorkerLoss::shrink;
      options.directory = folder_.path() / ("server-" + std::to_string(i));
      servers_.push_back(std::make_unique<InProcess>(options));
      for (std::vector<Worker>* ways : {&stays_, &lost_}) {
        ways->emplace_back(servers_.back()->link, spec_, ways == &stays_ ? 0 : 1, ways == &stays_ ? 100u : 200u);
        ways->back().set_server(i, 2);
        EXPECT_TRUE(ways->back().hello().ok());
      }
    }
  }

  uint64_t key(int server) const {
    uint64_t key = 0;
    while (server_of(key, 2) != server) ++key;
    return key;
  }
  wire::Outcome push(std::vector<Worker>& worker, int server, float by) {
    const auto outcome =
        worker[static_cast<size_t>(server)].push({batch_id(0, 0)}, {count_at({key(server)}, by)}, {}, Position{0, 0});
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    return outcome.ok() ? *outcome : wire::LATE;
  }
  // The value of the server's row after the step, which this confirms.
  std::future<Result<std::vector<float>>> value(std::vector<Worker>& worker, int server) {
    return std::async(std::launch::async, [this, &worker, server] {
      return worker[static_cast<size_t>(server)].pull_rows(0, {key(server)}, Position{0, 1}, 20);
    });
  }
  void lose(int server) {
    wire::GoodbyeRequest goodbye;
    *goodbye.mutable_caller() = lost_[static_cast<size_t>(server)].caller();
    goodbye.set_failed("ended with status 7");
    ASSERT_OK(lost_[static_cast<size_t>(server)].call<wire::GoodbyeReply>(wire::GOODBYE, goodbye));
    const auto deadline = Deadline::after_seconds(20);
    while (stays_[static_cast<size_t>(server)].stats()->workers(1).state() != "lost" && !deadline.passed()) {
    }
  }
  // What the heartbeats of worker 0 do, until nothing is left to do.
  void settle() {
    LossSettler settler(2);
    for (int beat = 0; beat < 50; ++beat) {
      for (Worker& way : stays_) {
        wire::HeartbeatRequest request;
        *request.mutable_caller() = way.caller();
        const auto reply = way.call<wire::HeartbeatReply>(wire::HEARTBEAT, request);
        ASSERT_OK(reply);
        settler.heard(*reply);
      }
      for (auto& [server, request] : settler.due()) {
        Worker& way = stays_[static_cast<size_t>(server)];
        *request.mutable_caller() = way.caller();
        const auto reply = way.call<wire::SettleLossReply>(wire::SETTLE_LOSS, request);
        ASSERT_OK(reply);
        settler.answered(server, request.loss(), *reply);
      }
    }
    EXPECT_TRUE(settler.due().empty());
  }
  uint64_t given_up(int server) { return stays_[static_cast<size_t>(server)].stats()->workers(1).given_up(); }

  const Folder folder_;
  const JobSpec spec_ = job(Mode::sync, 2, {counting_rows()});
  std::vector<std::unique_ptr<InProcess>> servers_;
  std::vector<Worker> stays_, lost_;  // by server
};

// It had confirmed its push to one server, which applied the step with it; the other must not apply the step without it.
TEST_F(ServerLosses, APushThatAllServersHaveCountsOnAll) {
  for (int server = 0; server < 2; ++server) {
    push(stays_, server, 2);
    push(lost_, server, 4);
  }
  auto first = value(stays_, 0), second = value(stays_, 1), confirmed = value(lost_, 0);
  EXPECT_THAT(*first.get(), Each(3));
  EXPECT_THAT(*confirmed.get(), Each(3));
  lose(0);
  lose(1);
  settle();
  EXPECT_THAT(*second.get(), Each(3)) << "the mean of both, as on the first server";
  EXPECT_EQ(given_up(0) + given_up(1), 0u);
}

// It died between two servers: nobody can have applied its push, and nobody does.
TEST_F(ServerLosses, APushThatOneServerLacksIsDroppedOnAllAndSaid) {
  for (int server = 0; server < 2; ++server) push(stays_, server, 2);
  push(lost_, 0, 4);
  auto first = value(stays_, 0), second = value(stays_, 1);
  lose(0);
  settle();  // the second server learns of the loss by it
  EXPECT_THAT(*first.get(), Each(2));
  EXPECT_THAT(*second.get(), Each(2));
  for (int server = 0; server < 2; ++server) {
    EXPECT_EQ(given_up(server), 1u);
    servers_[static_cast<size_t>(server)]->restart();
    EXPECT_EQ(given_up(server), 1u) << "also after a restart";
    EXPECT_EQ(stays_[static_cast<size_t>(server)].stats()->workers(1).window().through(), 0u);
  }
  EXPECT_EQ(lost_[1].heartbeat().code(), Code::aborted);
}

// With one server everything that was acknowledged is everywhere.
TEST(ServerLoss, APushToTheOnlyServerCounts) {
  ServerOptions options = InProcess::options();
  options.lease_seconds = 1000;
  options.on_worker_loss = OnWorkerLoss::shrink;
  const JobSpec spec = job(Mode::sync, 2, {counting_rows()});
  InProcess process(options);
  Worker stays = process.worker(spec, 0), lost = process.worker(spec, 1);
  ASSERT_OK(stays.hello());
  ASSERT_OK(lost.hello());
  ASSERT_OK(lost.push({batch_id(0, 0)}, {count_at({5}, 4)}, {}, Position{0, 0}));
  wire::GoodbyeRequest goodbye;
  *goodbye.mutable_caller() = lost.caller();
  goodbye.set_failed("ended with status 7");
  ASSERT_OK(lost.call<wire::GoodbyeReply>(wire::GOODBYE, goodbye));
  const auto deadline = Deadline::after_seconds(20);
  while (stays.stats()->workers(1).state() != "lost" && !deadline.passed()) {
  }
  ASSERT_OK(stays.push({batch_id(0, 0)}, {count_at({5}, 2)}, {}, Position{0, 0}));
  EXPECT_THAT(*stays.pull_rows(0, {5}, Position{0, 1}), ElementsAre(3, 3));
}

}  // namespace
}  // namespace argosy::ps
