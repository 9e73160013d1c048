#include "argosy/ps/server/waiting_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/ps/server/call_scratch.h"
#include "argosy/ps/server/server_limits.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kPatient = 600, kOver = -1;  // seconds that a call may still wait

// A server of three workers, of whom 0 and 1 have come. Calls are parked and never handled: nobody wakes them.
class WaitingCallsTest : public testing::Test {
 protected:
  WaitingCallsTest() {
    options_.lease_seconds = 1000;
    state_ = std::move(State::make(job(Mode::sync, 3, {counting_rows(), counting_dense("w")}), {.job = "test"})).value();
    for (const int worker : {0, 1})
      state_->members().hello(worker, 100 + static_cast<uint64_t>(worker), "host:" + std::to_string(worker));
  }

  Asked gather(uint32_t worker, double seconds) {
    wire::GatherRequest request;
    *request.mutable_caller() = caller(worker);
    request.set_name("epoch");
    request.set_call(1);
    return park(Topic::gather, ask(wire::GATHER, request, seconds));
  }
  Asked park(Topic topic, Asked asked) {
    parking_.park(topic, parking_.version(topic), asked.call);
    return asked;
  }
  Asked park(Topic topic, double seconds) { return park(topic, ask(wire::PUSH, wire::PushRequest(), seconds)); }
  static wire::Caller caller(uint32_t worker) {
    wire::Caller made;
    made.set_worker(worker);
    return made;
  }
  // What the call was answered now; empty: it goes on waiting.
  std::string answer(const Asked& asked) {
    waiting_.answer_due(*state_);
    return asked.answer->here() ? asked.answer->text().status().message() : "";
  }
  void lose(int worker) {
    state_->members().fail(worker, "ended with status 3", options_.lease_seconds + options_.worker_wait_seconds);
  }

  ServerOptions options_;
  ServerLimits limits_{options_};
  std::unique_ptr<State> state_;
  Parking parking_{1, [](const CallPtr&) { ADD_FAILURE() << "nobody woke it"; }, limits_.parked_calls, limits_.parked_bytes};
  std::vector<int> lacking_ = {1};
  WaitingCalls waiting_{options_, "server 4", parking_, [this](const State&, const wire::CompareRequest&) { return lacking_; }};
};

TEST_F(WaitingCallsTest, WhoMayWaitGoesOnWaiting) {
  std::vector<Asked> calls;
  for (const Topic topic :
       {Topic::position, Topic::gather, Topic::mail, Topic::initialised, Topic::batches, Topic::quiet, Topic::thaw, Topic::log})
    calls.push_back(park(topic, kPatient));
  for (const Asked& call : calls) EXPECT_EQ(answer(call), "");
  EXPECT_TRUE(parking_.has(Topic::log));
}

// A barrier that nobody passes is a bug in somebody's script: the message has its name, its number and who is not there.
TEST_F(WaitingCallsTest, ABarrierThatTimesOutNamesWhoIsMissing) {
  EXPECT_THAT(answer(gather(0, kOver)),
              AllOf(HasSubstr("waiting at barrier 'epoch' number 1"), HasSubstr("missing: worker 0 (host:0)"),
                    HasSubstr("worker 1 (host:1)"), HasSubstr("worker 2, which never came")));
}

TEST_F(WaitingCallsTest, EachWaitThatTimesOutSaysWhatItWaitedFor) {
  EXPECT_THAT(
      answer(park(Topic::position, kOver)),
      AllOf(HasSubstr("waiting for a step; server 4 is at step 0 of round 0 and waits for worker 0"), HasSubstr("worker 2")));
  EXPECT_THAT(answer(park(Topic::initialised, kOver)), AllOf(HasSubstr("first values of 'w'"), HasSubstr("worker 0 sets")));
  EXPECT_THAT(answer(park(Topic::mail, kOver)), HasSubstr("waiting for a message of another worker"));
  EXPECT_THAT(answer(park(Topic::batches, kOver)),
              AllOf(HasSubstr("batches that server 4 was started again without"), HasSubstr("sent again by worker 1")));
  EXPECT_THAT(answer(park(Topic::log, kOver)), HasSubstr("the log of server 4 has not grown"));
}

// What passes by itself is tried again by the client; the user is not told of it.
TEST_F(WaitingCallsTest, ShortWaitsMayBeTriedAgain) {
  for (const Topic topic : {Topic::quiet, Topic::thaw}) {
    const Asked call = park(topic, kOver);
    EXPECT_THAT(answer(call), HasSubstr("try again"));
    EXPECT_EQ(call.answer->text().status().code(), Code::unavailable);
  }
}

// A worker's end is known long before calls time out: who waits for it is told at once, who waits for others is not.
TEST_F(WaitingCallsTest, WhoWaitsForALostWorkerIsToldAtOnce) {
  state_->members().hello(2, 102, "host:2");
  lose(2);
  const Asked step = park(Topic::position, kPatient), values = park(Topic::initialised, kPatient),
              log = park(Topic::log, kPatient);
  EXPECT_THAT(answer(step), AllOf(HasSubstr("worker 2 (host:2)"), HasSubstr("ended with status 3"), Not(HasSubstr("worker 1"))));
  EXPECT_EQ(answer(values), "") << "worker 0, who sets them, lives";
  EXPECT_EQ(answer(log), "");
  EXPECT_TRUE(parking_.has(Topic::initialised)) << "it is parked again";
}

TEST_F(WaitingCallsTest, WithWaitALostWorkerHasMoreTimeToComeBack) {
  options_.on_worker_loss = OnWorkerLoss::wait;
  options_.worker_wait_seconds = 500;
  state_->members().fail(1, "ended with status 3", options_.lease_seconds + 1);
  const Asked step = park(Topic::position, kPatient);
  EXPECT_EQ(answer(step), "");
  lose(1);
  EXPECT_THAT(answer(step), HasSubstr("worker 1"));
}

// With shrink the job goes on without it; but worker 0 saves the model, and nobody goes on without that.
TEST_F(WaitingCallsTest, WithShrinkOnlyTheSavingWorkerIsMissed) {
  options_.on_worker_loss = OnWorkerLoss::shrink;
  lose(1);
  const Asked step = park(Topic::position, kPatient);
  EXPECT_EQ(answer(step), "");
  lose(0);
  EXPECT_THAT(answer(step), AllOf(HasSubstr("worker 0"), Not(HasSubstr("worker 1"))));
}

// A Compare waits for those whose batches it lacks, and for no other worker that is lost.
TEST_F(WaitingCallsTest, ACompareIsToldOfTheWorkersThatItWaitsFor) {
  lose(0);
  const Asked compare = park(Topic::batches, kPatient);
  EXPECT_EQ(answer(compare), "") << "worker 1, who sends them again, lives";
  lose(1);
  EXPECT_THAT(answer(compare), HasSubstr("worker 1"));
}

}  // namespace
}  // namespace argosy::ps
