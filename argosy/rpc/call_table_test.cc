#include "argosy/rpc/call_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "argosy/base/queue.h"
#include "argosy/base/random.h"

namespace argosy::rpc {
namespace {

using ::testing::HasSubstr;

// Where callbacks put what they were told: code and message, in the order in which they ran.
class Answers {
 public:
  Callback callback() {
    return [this](Result<Received> answer) {
      answers_.push(answer.ok() ? Status() : Status(answer.status()), Deadline::after_seconds(30));
    };
  }
  Status next() {
    Status status;
    EXPECT_EQ(answers_.pop(status, Deadline::after_seconds(30)), QueueState::ok) << "no callback ran";
    return status;
  }
  size_t size() const { return answers_.size(); }

 private:
  Queue<Status> answers_{100'000};
};

constexpr double kLong = 600;

CallTable::Id begin(CallTable& table, Answers& answers, double seconds = kLong, uint64_t connection = 1, uint16_t method = 5) {
  Callback done = answers.callback();
  return table.begin(method, Deadline::after_seconds(seconds), connection, done);
}

TEST(CallTable, ACallEndsOnceByItsAnswer) {
  Answers answers;
  CallTable table("host:1");
  const CallTable::Id id = begin(table, answers);
  EXPECT_NE(id, 0u);
  EXPECT_FALSE(table.ended(id));
  table.end(id, Received());
  EXPECT_TRUE(table.ended(id));
  EXPECT_TRUE(answers.next().ok());
  table.end(id, Status::internal("again"));
  table.end_connection(1, Status::unavailable("broken"));
  EXPECT_TRUE(table.take(id).done == nullptr);
  table.stop();
  EXPECT_EQ(answers.size(), 0u) << "its callback ran once";
}

TEST(CallTable, WhoTakesACallRunsItsCallback) {
  Answers answers;
  CallTable table("host:1");
  const CallTable::Id id = begin(table, answers, kLong, 1, 77);
  CallTable::Taken taken = table.take(id);
  EXPECT_EQ(taken.method, 77);
  ASSERT_TRUE(taken.done != nullptr);
  EXPECT_TRUE(table.take(id).done == nullptr) << "the second to ask has nothing";
  table.stop();
  EXPECT_EQ(answers.size(), 0u);
  taken.done(Received());
  EXPECT_TRUE(answers.next().ok());
}

TEST(CallTable, ADeadlineEndsItsCallAndNoOther) {
  Answers answers;
  CallTable table("host:1");
  const CallTable::Id late = begin(table, answers), soon = begin(table, answers, 0.01, 1, 9);
  const Status ended = answers.next();
  EXPECT_EQ(ended.code(), Code::deadline_exceeded);
  EXPECT_THAT(ended.message(), HasSubstr("host:1 did not answer in "));
  EXPECT_THAT(ended.message(), HasSubstr("(method 9)"));
  EXPECT_TRUE(table.ended(soon));
  EXPECT_FALSE(table.ended(late));
  begin(table, answers, -1);
  EXPECT_EQ(answers.next().code(), Code::deadline_exceeded) << "one that is over when it begins";
}

TEST(CallTable, AConnectionEndsTheCallsThatWentOverIt) {
  Answers broken, others;
  CallTable table("host:1");
  for (int i = 0; i < 3; ++i) begin(table, broken, kLong, 1);
  const CallTable::Id other = begin(table, others, kLong, 2);
  table.end_connection(1, Status::unavailable("connection 1 broke"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(broken.next(), Status::unavailable("connection 1 broke"));
  EXPECT_FALSE(table.ended(other));
  EXPECT_EQ(others.size(), 0u);
}

TEST(CallTable, AClosedChannelCancelsAllAndTakesNoMore) {
  Answers answers;
  CallTable table("host:1");
  for (int i = 0; i < 3; ++i) begin(table, answers);
  table.stop();
  EXPECT_EQ(answers.size(), 3u) << "the callbacks have run when stop() returns";
  const Status cancelled = answers.next();
  EXPECT_EQ(cancelled.code(), Code::cancelled);
  EXPECT_EQ(cancelled.message(), "the call of method 5 to host:1 was cancelled: its channel was closed");
  table.stop();
  Callback done = answers.callback();
  EXPECT_EQ(table.begin(5, Deadline::after_seconds(kLong), 1, done), 0u);
  EXPECT_TRUE(done != nullptr) << "is left alone";
}

// A callback may begin the next call, as a retry does.
TEST(CallTable, ACallbackMayBeginAnotherCall) {
  Answers answers;
  CallTable table("host:1");
  Callback retry = [&](const Result<Received>&) { begin(table, answers, -1); };
  const CallTable::Id id = table.begin(5, Deadline::after_seconds(kLong), 1, retry);
  table.end(id, Status::unavailable("once more"));
  EXPECT_EQ(answers.next().code(), Code::deadline_exceeded);
}

// Answers, deadlines, broken connections and takers race for each call: the first one wins, and the callback runs exactly once.
TEST(CallTable, EachCallbackRunsExactlyOnceWhoeverIsFirst) {
  constexpr uint64_t kCalls = 2000;
  std::vector<std::atomic<int>> runs(kCalls);
  {
    CallTable table("host:1");
    std::atomic<uint64_t> begun = 0;
    const auto end_some = [&](uint64_t seed) {
      return [&, seed] {
        Random random(seed);
        while (begun < kCalls) {
          const uint64_t id = 1 + random.below(kCalls);
          if (seed == 1) table.end(id, Received());
          if (seed == 2) table.end_connection(id % 50, Status::unavailable("broken"));
          if (seed == 3) {
            if (Callback done = table.take(id).done) done(Received());
          }
        }
      };
    };
    Thread one("end-1", end_some(1)), two("end-2", end_some(2)), three("end-3", end_some(3));
    for (uint64_t i = 0; i < kCalls; ++i) {
      Callback done = [&runs, i](const Result<Received>&) { ++runs[i]; };
      EXPECT_NE(table.begin(5, Deadline::after_seconds(i % 3 == 0 ? 0 : kLong), i % 50, done), 0u);
      ++begun;
    }
  }
  for (uint64_t i = 0; i < kCalls; ++i) ASSERT_EQ(runs[i].load(), 1) << "call " << i;
}

}  // namespace
}  // namespace argosy::rpc
