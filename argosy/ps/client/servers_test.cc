#include "argosy/ps/client/servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "argosy/base/thread.h"
#include "argosy/base/wait_check.h"

namespace argosy::ps {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<rpc::Received> answer(const std::string& header) {
  rpc::Received received;
  received.header = header;
  return received;
}

// A channel whose answers a test has written down. When they are used up, calls get the last one again; without any they are
// held.
class ScriptedChannel final : public rpc::Channel {
 public:
  explicit ScriptedChannel(std::string peer) : peer_(std::move(peer)) {}
  ~ScriptedChannel() override { drop_held(); }

  void will(Result<rpc::Received> next) {
    MutexLock lock(mutex_);
    answers_.push_back(std::move(next));
  }
  void call(rpc::Message message, Deadline deadline, rpc::Callback done) override {
    std::optional<Result<rpc::Received>> next;
    {
      MutexLock lock(mutex_);
      headers_.push_back(message.header);
      seconds_.push_back(deadline.seconds_left());
      if (answers_.empty()) {
        held_.push_back(std::move(done));
        return;
      }
      next = answers_.front().ok() ? answer(answers_.front()->header) : Result<rpc::Received>(answers_.front().status());
      if (answers_.size() > 1) answers_.pop_front();
    }
    done(std::move(*next));
  }
  Status wait_ready(Deadline) override { return {}; }
  const std::string& peer() const override { return peer_; }

  std::vector<std::string> headers() {
    MutexLock lock(mutex_);
    return headers_;
  }
  std::vector<double> seconds() {
    MutexLock lock(mutex_);
    return seconds_;
  }

 private:
  void drop_held() {
    std::vector<rpc::Callback> held;
    {
      MutexLock lock(mutex_);
      held.swap(held_);
    }
    for (rpc::Callback& done : held) done(Status::cancelled("the channel is gone"));
  }

  const std::string peer_;
  Mutex mutex_;
  std::deque<Result<rpc::Received>> answers_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<std::string> headers_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<double> seconds_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<rpc::Callback> held_ ARGOSY_GUARDED_BY(mutex_);
};

class ServersTest : public ::testing::Test {
 protected:
  void open(int count, const ServersOptions& options = {}) {
    Servers::Channels channels, heartbeats;
    for (int i = 0; i < count; ++i) {
      auto channel = std::make_unique<ScriptedChannel>("10.0.0." + std::to_string(i) + ":6170");
      scripts_.push_back(channel.get());
      channels.push_back(std::move(channel));
      heartbeats.push_back(std::make_unique<ScriptedChannel>("beat"));
    }
    servers_ = std::make_unique<Servers>(std::move(channels), std::move(heartbeats), options);
  }
  std::vector<ServerCall> to_all(const std::string& header) const {
    std::vector<ServerCall> calls;
    for (int i = 0; i < servers_->size(); ++i) calls.push_back({i, {.method = 1, .header = header, .payload = {}}});
    return calls;
  }
  Result<rpc::Received> call(int server, std::optional<Deadline> held_until = {}) {
    return servers_->call(server, {.method = 1, .header = "hello", .payload = {}}, held_until);
  }

  std::vector<ScriptedChannel*> scripts_;
  std::unique_ptr<Servers> servers_;
};

TEST_F(ServersTest, AnswersComeInTheOrderOfTheCalls) {
  open(2);
  scripts_[0]->will(Status::unavailable("not yet"));  // so that server 1 answers first
  scripts_[0]->will(answer("zero"));
  scripts_[1]->will(answer("one"));
  std::vector<int> came;
  const auto answers = servers_->call(to_all("x"), {}, [&](int server, const rpc::Received&) {
    came.push_back(server);
    return Status();
  });
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_EQ((*answers)[0].header, "zero");
  EXPECT_EQ((*answers)[1].header, "one");
  EXPECT_THAT(came, ElementsAre(1, 0));
}

TEST_F(ServersTest, ACallIsRepeatedWithTheSameBytesWhileTheServerIsAway) {
  open(1);
  for (int i = 0; i < 3; ++i) scripts_[0]->will(Status::unavailable("connection refused"));
  scripts_[0]->will(answer("back"));
  ASSERT_TRUE(call(0).ok());
  EXPECT_THAT(scripts_[0]->headers(), ElementsAre("hello", "hello", "hello", "hello"));
  EXPECT_EQ(servers_->counters().calls, 4);
  EXPECT_EQ(servers_->counters().retries, 3);
}

TEST_F(ServersTest, PatienceEndsWithANameATimeAndTheLastError) {
  open(1, {.server_wait_seconds = 0.05});
  scripts_[0]->will(Status::unavailable("connection refused"));
  const Status status = call(0).status();
  EXPECT_EQ(status.code(), Code::unavailable);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("server 0 (10.0.0.0:6170) has not answered for"), HasSubstr("see its log"),
                                      HasSubstr("The last error: connection refused")));
}

// What a server refuses is final: it would refuse it again.
TEST_F(ServersTest, ARefusalIsNotRepeated) {
  open(2);
  scripts_[0]->will(Status::invalid_argument("no such table"));
  scripts_[1]->will(answer("fine"));
  const Status status = servers_->call(to_all("x")).status();
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("server 0 (10.0.0.0:6170)"), HasSubstr("no such table")));
  EXPECT_EQ(scripts_[0]->headers().size(), 1);
}

TEST_F(ServersTest, AnErrorOfTheReaderEndsTheCall) {
  open(1);
  scripts_[0]->will(answer("garbage"));
  const auto refuse = [](int, const rpc::Received&) { return Status::data_loss("cannot be read"); };
  EXPECT_EQ(servers_->call(to_all("x"), {}, refuse).status().code(), Code::data_loss);
}

// A server that holds an answer back is there: it is asked again until the deadline that it was given.
TEST_F(ServersTest, AHeldAnswerIsAskedForAgain) {
  open(1, {.server_wait_seconds = 0});
  scripts_[0]->will(Status::deadline_exceeded("step 4 is not complete"));
  scripts_[0]->will(Status::deadline_exceeded("step 4 is not complete"));
  scripts_[0]->will(answer("step 4"));
  EXPECT_TRUE(call(0, Deadline::after_seconds(60)).ok());
  EXPECT_EQ(scripts_[0]->headers().size(), 3);
}

TEST_F(ServersTest, NearTheDeadlineTheServersOwnWordsAreTheAnswer) {
  open(1);
  scripts_[0]->will(Status::deadline_exceeded("waiting for worker 3"));
  const Status status = call(0, Deadline::after_seconds(0.1)).status();
  EXPECT_EQ(status.code(), Code::deadline_exceeded);
  EXPECT_THAT(status.message(), HasSubstr("waiting for worker 3"));
}

TEST_F(ServersTest, ATryTakesNoLongerThanTheCallMay) {
  open(1, {.call_seconds = 7});
  scripts_[0]->will(answer("x"));
  ASSERT_TRUE(call(0).ok());
  ASSERT_TRUE(call(0, Deadline::after_seconds(2)).ok());
  EXPECT_NEAR(scripts_[0]->seconds()[0], 7, 1);
  EXPECT_NEAR(scripts_[0]->seconds()[1], 2, 1);
}

// A process that was started again is compared with first, and then gets the call.
TEST_F(ServersTest, AnotherProcessIsComparedWithBeforeItGetsTheCall) {
  open(1);
  std::vector<int> compared;
  servers_->set_compare([&](int server) {
    compared.push_back(server);
    return Status();
  });
  scripts_[0]->will(Status::unauthenticated("another process"));
  scripts_[0]->will(answer("welcome"));
  EXPECT_TRUE(call(0).ok());
  EXPECT_THAT(compared, ElementsAre(0));
}

TEST_F(ServersTest, ALossThatTheComparisonFindsIsTheCallsError) {
  open(1);
  servers_->set_compare([](int) { return Status::data_loss("2 batches are missing"); });
  scripts_[0]->will(Status::unauthenticated("another process"));
  EXPECT_EQ(call(0).status().code(), Code::data_loss);
  EXPECT_EQ(servers_->call_to_compare(to_all("x"), Deadline::after_seconds(60)).status().code(), Code::unauthenticated)
      << "the comparison's own messages are not compared";
}

TEST_F(ServersTest, AnEndReachesCallsThatWaitAndThoseThatCome) {
  open(1);
  Thread ending("end", [&] {
    while (scripts_[0]->headers().empty()) std::this_thread::yield();
    servers_->end(Status::aborted("worker 1 is lost"));
  });
  EXPECT_EQ(call(0).status().code(), Code::aborted) << "no answer ever comes";
  ending.join();
  EXPECT_EQ(call(0).status().code(), Code::aborted);
  servers_->go_on();
  scripts_[0]->will(answer("again"));
  EXPECT_TRUE(call(0).ok());
}

TEST_F(ServersTest, CountsTheBytesOfBothWays) {
  open(1);
  scripts_[0]->will(answer("four"));
  ASSERT_TRUE(call(0).ok());
  EXPECT_EQ(servers_->counters().bytes_sent, 5);
  EXPECT_EQ(servers_->counters().bytes_received, 4);
}

}  // namespace
}  // namespace argosy::ps
