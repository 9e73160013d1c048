#include "argosy/ps/client/pair_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "argosy/ps/spec/messages.pb.h"

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

// One of the two processes: answers with its name, refuses, or holds calls until it is told to answer them.
class FakeWay final : public rpc::Channel {
 public:
  explicit FakeWay(std::string name) : name_(std::move(name)) {}

  void call(rpc::Message message, Deadline, rpc::Callback done) override {
    if (message.method == wire::REPLICA_STATUS) {
      EXPECT_TRUE(asked.ParseFromString(message.header));
      rpc::Received received;
      received.header = status.SerializeAsString();
      return done(std::move(received));
    }
    ++calls;
    if (holds) return held.push_back(std::move(done));
    if (away) return done(Status::unavailable("{} is away", name_));
    rpc::Received received;
    received.header = name_;
    done(std::move(received));
  }
  Status wait_ready(Deadline) override { return away ? Status::unavailable("{} is away", name_) : Status(); }
  const std::string& peer() const override { return name_; }

  bool away = false, holds = false;
  int calls = 0;
  wire::ReplicaStatus status;
  wire::ReplicaStatusRequest asked;  // last
  std::vector<rpc::Callback> held;

 private:
  const std::string name_;
};

wire::Caller of_epoch(uint64_t epoch) {
  wire::Caller who;
  who.set_job("clicks");
  who.set_run("aaaa");
  who.set_epoch(epoch);
  return who;
}

class PairChannelTest : public ::testing::Test {
 protected:
  PairChannelTest() {
    auto one = std::make_unique<FakeWay>("a:1"), other = std::make_unique<FakeWay>("b:1");
    a = one.get();
    b = other.get();
    pair = std::make_unique<PairChannel>(std::move(one), std::move(other));
  }
  std::string call() {
    std::string said = "nothing yet";
    pair->call({1, "", {}}, Deadline::after_seconds(30),
               [&said](Result<rpc::Received> answer) { said = answer.ok() ? answer->header : answer.status().message(); });
    return said;
  }
  void leads(FakeWay* way, uint64_t epoch) {
    way->status.set_role(wire::ReplicaStatus::PRIMARY);
    way->status.set_epoch(epoch);
  }

  FakeWay *a = nullptr, *b = nullptr;
  std::unique_ptr<PairChannel> pair;
};

TEST_F(PairChannelTest, TheNextCallGoesToTheOtherWhereOneIsAway) {
  EXPECT_EQ(call(), "a:1");
  a->away = true;
  EXPECT_EQ(call(), "a:1 is away");
  EXPECT_EQ(call(), "b:1");
  EXPECT_EQ(call(), "b:1");
  EXPECT_EQ(a->calls, 2);
  EXPECT_EQ(pair->peer(), "a:1 or b:1");
}

// A stopped process answers nothing, and refuses nothing.
TEST_F(PairChannelTest, WhatWaitsForAStoppedProcessIsRepeatedAtTheOtherOneWhenThatLeads) {
  pair->met(of_epoch(1));
  a->holds = true;
  std::string said;
  pair->call({1, "", {}}, Deadline::after_seconds(30), [&](Result<rpc::Received> answer) { said = answer.status().message(); });
  pair->look();
  EXPECT_EQ(said, "");  // it has not waited for long
  std::this_thread::sleep_for(std::chrono::milliseconds(350));
  b->status.set_role(wire::ReplicaStatus::FOLLOWER);
  pair->look();
  EXPECT_EQ(said, "");
  leads(b, 2);
  pair->look();
  EXPECT_EQ(b->asked.caller().job(), "clicks");
  EXPECT_EQ(b->asked.caller().run(), "aaaa");
  EXPECT_FALSE(b->asked.has_arbiter());
  EXPECT_THAT(said, HasSubstr("another process is the primary now"));
  EXPECT_EQ(call(), "b:1");
  a->held.front()(Status::unavailable("late"));  // nobody listens, and nothing goes back
  EXPECT_EQ(call(), "b:1");
}

// One that was stopped believes that it still leads.
TEST_F(PairChannelTest, APrimaryOfAnEarlierEpochIsNotBelieved) {
  a->away = true;
  (void)call();
  pair->met(of_epoch(2));
  leads(a, 1);
  b->holds = true;
  std::string said;
  pair->call({1, "", {}}, Deadline::after_seconds(30), [&](Result<rpc::Received> answer) { said = answer.status().message(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(350));
  pair->look();
  EXPECT_EQ(said, "");
  b->held.front()(Status::unavailable("over"));
}

}  // namespace
}  // namespace argosy::ps
