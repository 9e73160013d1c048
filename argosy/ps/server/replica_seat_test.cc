#include "argosy/ps/server/replica_seat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "argosy/base/socket.h"
#include "argosy/ps/server/replica_scratch.h"
#include "argosy/ps/server/server.h"
#include "argosy/rpc/channel.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using ::testing::HasSubstr;

// Who says that it is the arbiter.
struct Sender {
  uint64_t number = 1;
  std::string name = "host:1", job = "clicks", run = "aaaa";
};

// A process of a server of two that starts, and its arbiter.
class ReplicaSeatTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_ = ReplicaProcess::options(folder_, "a");
    options_.job = "clicks";
    options_.run = "aaaa";
    options_.address = fmt::format("127.0.0.1:{}", free_ports("127.0.0.1", 1)->front());
    channel_ = *rpc::connect_channel(options_.address, {});
    started_ = std::async(std::launch::async, [this] { return Server::start(options_); });
  }

  Result<wire::ReplicaStatus> call(wire::Method method, const std::string& header) {
    const auto received = channel_->call_and_wait({static_cast<uint16_t>(method), header, {}}, Deadline::after_seconds(5));
    if (!received.ok()) return received.status();
    wire::ReplicaStatus status;
    EXPECT_TRUE(status.ParseFromString(received->header));
    return status;
  }
  template <typename Request>
  static std::string signed_by(const Sender& sender, Request request) {
    request.mutable_caller()->set_job(sender.job);
    request.mutable_caller()->set_run(sender.run);
    request.mutable_arbiter()->set_number(sender.number);
    request.mutable_arbiter()->set_name(sender.name);
    return request.SerializeAsString();
  }
  Result<wire::ReplicaStatus> ask(const Sender& sender = {}) {
    return call(wire::REPLICA_STATUS, signed_by(sender, wire::ReplicaStatusRequest()));
  }
  Result<wire::ReplicaStatus> tell(wire::ReplicaStatus::Role what, uint64_t epoch, const Sender& sender = {}) {
    wire::TakeRoleRequest request = role(what, epoch);
    request.set_peer("127.0.0.1:1");  // nobody
    return call(wire::TAKE_ROLE, signed_by(sender, request));
  }
  // Neither what it says of itself nor what it is told is taken from this one.
  void expect_refused(const Sender& sender, const std::string& why) {
    for (const auto& answer : {ask(sender), tell(wire::ReplicaStatus::PRIMARY, 9, sender),
                               tell(wire::ReplicaStatus::FOLLOWER, 9, sender), tell(wire::ReplicaStatus::ENDED, 9, sender)}) {
      EXPECT_EQ(answer.status().code(), Code::failed_precondition);
      EXPECT_THAT(answer.status().message(), HasSubstr(why));
    }
  }
  void expect_still(wire::ReplicaStatus::Role what, uint64_t epoch) {
    const auto status = ask();
    ASSERT_OK(status.status());
    EXPECT_EQ(status->role(), what);
    EXPECT_EQ(status->epoch(), epoch);
  }
  bool leads() {
    const auto status = ask();
    return status.ok() && status->role() == wire::ReplicaStatus::PRIMARY && !status->getting_ready();
  }
  void end_primary() {
    auto server = started_.get();
    ASSERT_OK(server.status());
    ASSERT_OK((*server)->wait(Deadline::after_seconds(0)).status());  // nobody has fenced it
    ASSERT_OK((*server)->stop());
  }
  void wait_until_it_answers() {
    ASSERT_TRUE(soon([this] { return ask().ok(); }));
  }
  // It has ended as a server of a job that is over does.
  void expect_ended() {
    ASSERT_EQ(started_.wait_for(std::chrono::seconds(20)), std::future_status::ready);
    auto server = started_.get();
    ASSERT_OK(server.status());
    EXPECT_EQ(*(*server)->wait(Deadline::after_seconds(0)), true);
    EXPECT_FALSE(*(*server)->begin_import());
    ASSERT_OK((*server)->stop());
  }

  const Folder folder_;
  ServerOptions options_;
  std::unique_ptr<rpc::Channel> channel_;
  std::future<Result<std::unique_ptr<Server>>> started_;
};

// Started again when its job had ended, it would wait for a role that nobody gives any more.
TEST_F(ReplicaSeatTest, OneThatWaitsEndsWithTheJob) {
  wait_until_it_answers();
  EXPECT_EQ(ask()->role(), wire::ReplicaStatus::WAITING);
  EXPECT_THAT(tell(wire::ReplicaStatus::WAITING, 3).status().message(), HasSubstr("a role has to be"));
  const auto told = tell(wire::ReplicaStatus::ENDED, 3);
  ASSERT_OK(told.status());
  EXPECT_EQ(told->role(), wire::ReplicaStatus::ENDED);
  expect_ended();
}

// The primary that it was to follow has ended with the job before the two met.
TEST_F(ReplicaSeatTest, OneThatLooksForItsPrimaryEndsWithTheJob) {
  wait_until_it_answers();
  ASSERT_OK(tell(wire::ReplicaStatus::FOLLOWER, 3).status());
  EXPECT_EQ(tell(wire::ReplicaStatus::PRIMARY, 4).status().code(), Code::unavailable);
  ASSERT_OK(tell(wire::ReplicaStatus::ENDED, 3).status());
  expect_ended();
}

// Two runs on one pair of addresses: each arbiter draws epochs, and would fence the other's primary.
TEST_F(ReplicaSeatTest, AnArbiterOfAnotherRunIsRefusedByNameAndChangesNothing) {
  const Sender stranger{.number = 2, .name = "elsewhere:2", .run = "bbbb"};
  wait_until_it_answers();
  expect_refused(stranger, "belongs to run aaaa, the arbiter elsewhere:2 (");
  expect_refused(stranger, ") to run bbbb. Either an earlier run left one of them behind");
  expect_still(wire::ReplicaStatus::WAITING, 0);
  ASSERT_OK(tell(wire::ReplicaStatus::PRIMARY, 1).status());
  ASSERT_TRUE(soon([this] { return leads(); }));
  expect_refused(stranger, "belongs to run aaaa, the arbiter elsewhere:2 (");
  expect_refused({.number = 2, .run = ""}, ") to none.");
  expect_still(wire::ReplicaStatus::PRIMARY, 1);
  EXPECT_EQ((*read_replica_record(options_.directory))->epoch, 1u);
  end_primary();
}

TEST_F(ReplicaSeatTest, AnArbiterOfAnotherJobIsRefusedByName) {
  wait_until_it_answers();
  expect_refused({.number = 2, .name = "elsewhere:2", .job = "likes"}, "serves job 'clicks'; the arbiter elsewhere:2 (");
  expect_still(wire::ReplicaStatus::WAITING, 0);
  ASSERT_OK(tell(wire::ReplicaStatus::ENDED, 3, {.job = ""}).status());  // a launcher whose script names the job
  expect_ended();
}

// A role is nobody's to give who does not say who it is.
TEST_F(ReplicaSeatTest, WhoIsNoArbiterGivesNoRole) {
  wait_until_it_answers();
  const auto told = tell(wire::ReplicaStatus::PRIMARY, 1, {.number = 0});
  EXPECT_EQ(told.status().code(), Code::invalid_argument);
  EXPECT_THAT(told.status().message(), HasSubstr("does not say which arbiter it is"));
  expect_still(wire::ReplicaStatus::WAITING, 0);
  ASSERT_OK(tell(wire::ReplicaStatus::ENDED, 3).status());
  expect_ended();
}

// Both draw epochs from what they see: in one and the same, two processes could lead.
TEST_F(ReplicaSeatTest, ASecondArbiterOfTheRunIsRefusedWhileTheFirstAsksAndThenTakesItsPlace) {
  const Sender second{.number = 2, .name = "elsewhere:2"};
  wait_until_it_answers();
  ASSERT_OK(tell(wire::ReplicaStatus::PRIMARY, 1).status());
  ASSERT_TRUE(soon([this] { return leads(); }));
  expect_refused(second, "has an arbiter: host:1, which asked 0.");
  expect_still(wire::ReplicaStatus::PRIMARY, 1);
  ASSERT_TRUE(soon([&] { return ask(second).ok(); }));  // the first one is silent
  EXPECT_EQ(tell(wire::ReplicaStatus::PRIMARY, 2, second)->epoch(), 2u);
  EXPECT_THAT(ask().status().message(), HasSubstr("has an arbiter: elsewhere:2"));
  end_primary();
}

// A worker that waits for an answer asks the other process whether it leads.
TEST_F(ReplicaSeatTest, AWorkerOfAnotherRunIsNotToldWhoLeads) {
  wait_until_it_answers();
  wire::ReplicaStatusRequest request;
  request.mutable_caller()->set_job("clicks");
  request.mutable_caller()->set_run("bbbb");
  request.mutable_caller()->set_worker(3);
  EXPECT_THAT(call(wire::REPLICA_STATUS, request.SerializeAsString()).status().message(), HasSubstr("worker 3 ("));
  request.mutable_caller()->set_run("aaaa");
  ASSERT_OK(call(wire::REPLICA_STATUS, request.SerializeAsString()).status());
  ASSERT_OK(tell(wire::ReplicaStatus::ENDED, 3).status());
  expect_ended();
}

}  // namespace
}  // namespace argosy::ps
