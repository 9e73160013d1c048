#include "argosy/testing/fault_channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "argosy/rpc/in_process.h"

namespace argosy::testing {
namespace {

Deadline soon() { return Deadline::after_seconds(60); }

// A peer that counts what it is asked, behind a channel that loses things.
class FaultChannelTest : public ::testing::Test {
 protected:
  std::unique_ptr<FaultChannel> connect(const Faults& faults, uint64_t seed = 7) {
    auto inner = rpc::connect_in_process([this](rpc::Request request, rpc::Reply reply) {
      ++executed_;
      reply.send(request.header);
    });
    return std::make_unique<FaultChannel>(std::move(inner), faults, seed);
  }
  std::atomic<int> executed_ = 0;
};

TEST_F(FaultChannelTest, PassesEverythingOnWithoutFaults) {
  const auto channel = connect({});
  const auto answer = channel->call_and_wait({1, "hello", {}}, soon());
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->header, "hello");
}

TEST_F(FaultChannelTest, LosesARequestBeforeItIsExecuted) {
  const auto channel = connect({});
  channel->lose_next_request();
  EXPECT_EQ(channel->call_and_wait({.method = 1}, soon()).status().code(), Code::unavailable);
  EXPECT_EQ(executed_, 0);
  EXPECT_TRUE(channel->call_and_wait({.method = 1}, soon()).ok());
}

TEST_F(FaultChannelTest, LosesAnAnswerAfterTheRequestWasExecuted) {
  const auto channel = connect({});
  channel->lose_next_answer();
  EXPECT_EQ(channel->call_and_wait({.method = 1}, soon()).status().code(), Code::unavailable);
  EXPECT_EQ(executed_, 1);
}

TEST_F(FaultChannelTest, IsDeadWhileCut) {
  const auto channel = connect({});
  channel->set_cut(true);
  EXPECT_FALSE(channel->call_and_wait({.method = 1}, soon()).ok());
  channel->set_cut(false);
  EXPECT_TRUE(channel->call_and_wait({.method = 1}, soon()).ok());
}

// Every call is answered once, and what the peer executed fits what the channel says that it did.
TEST_F(FaultChannelTest, AnswersEveryCallOnce) {
  constexpr int kCalls = 500;
  const auto channel = connect({.lose_request = 0.1, .lose_answer = 0.1, .duplicate = 0.2, .delay = 0.3});
  std::latch done(kCalls);
  std::atomic<int> good = 0;
  for (int i = 0; i < kCalls; ++i) {
    channel->call({.method = 1}, soon(), [&](Result<rpc::Received> answer) {
      good += answer.ok();
      done.count_down();
    });
  }
  done.wait();
  const FaultCounters counters = channel->counters();
  EXPECT_EQ(good, kCalls - static_cast<int>(counters.lost_requests + counters.lost_answers));
  EXPECT_GT(counters.lost_requests, 20u);
  EXPECT_GT(counters.lost_answers, 20u);
  EXPECT_GT(counters.duplicates, 50u);
  EXPECT_GT(counters.delays, 80u);
  const int expected = kCalls - static_cast<int>(counters.lost_requests) + static_cast<int>(counters.duplicates);
  for (const Deadline deadline = soon(); executed_ < expected && !deadline.passed();) std::this_thread::yield();
  EXPECT_EQ(executed_, expected);
}

TEST_F(FaultChannelTest, DoesTheSameForTheSameSeed) {
  const Faults faults{.lose_request = 0.3, .lose_answer = 0.3};
  const auto outcomes = [&](uint64_t seed) {
    const auto channel = connect(faults, seed);
    std::string text;
    for (int i = 0; i < 60; ++i) text += channel->call_and_wait({.method = 1}, soon()).ok() ? '+' : '-';
    return text;
  };
  EXPECT_EQ(outcomes(11), outcomes(11));
  EXPECT_NE(outcomes(11), outcomes(12));
}

TEST_F(FaultChannelTest, CancelsDelayedCallsWhenItIsDestroyed) {
  auto channel = connect({.delay = 1, .longest_delay = std::chrono::hours(1)});
  std::atomic<int> cancelled = 0;
  for (int i = 0; i < 5; ++i) {
    channel->call({.method = 1}, soon(),
                  [&](Result<rpc::Received> answer) { cancelled += answer.status().code() == Code::cancelled; });
  }
  channel.reset();
  EXPECT_EQ(cancelled, 5);
}

}  // namespace
}  // namespace argosy::testing
