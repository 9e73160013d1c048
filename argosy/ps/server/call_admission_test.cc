#include "argosy/ps/server/call_admission.h"

#include <gmock/gmock.h>

#include "argosy/ps/server/call_scratch.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::AllOf;
using testing::HasSubstr;

// A server of two workers in run kRun, of whom worker 0 has said Hello and compared.
class CallAdmissionTest : public ::testing::Test {
 protected:
  CallAdmissionTest() {
    run_.settle();
    fill();
    first_ = state_->members().hello(0, 1000, "host:1");
    state_->members().compared(0, first_);
  }
  void fill() { state_.set(std::move(State::make(job(Mode::async, 2, {counting_rows()}), {.job = "ctr"})).value()); }

  static wire::Caller caller(uint64_t incarnation, uint32_t worker = 0) {
    wire::Caller made;
    made.set_worker(worker);
    made.set_incarnation(incarnation);
    made.set_run(kRun);
    made.set_job("ctr");
    return made;
  }
  // Whether a call of `caller` is let in; otherwise it has been answered, and said_ has the answer.
  bool admits(const wire::Caller& caller, Allow allow = Allow::workers) {
    const Asked asked = ask(wire::GATHER, wire::GatherRequest());
    State* found = admission_.admit(asked.call, caller, allow);
    EXPECT_EQ(found == nullptr, asked.answer->here()) << "answered if and only if it is not let in";
    said_ = found == nullptr ? asked.answer->text().status() : Status();
    EXPECT_TRUE(found == nullptr || found == state_.get());
    return found != nullptr;
  }

  RunGuard run_{kRun, true};
  Limit limit_{"observers", 4, "callers", "end some of them"};
  Observers observers_{limit_};
  StateHolder state_;
  ChangeCounts counts_;
  CallAdmission admission_{"server 0", Durability::snapshot, run_, observers_, state_, counts_};
  uint64_t first_ = 0;
  Status said_;
};

TEST_F(CallAdmissionTest, AWorkerOfTheJobIsLetIn) {
  EXPECT_TRUE(admits(caller(first_)));
  EXPECT_TRUE(admits(caller(first_), Allow::observers));
  EXPECT_TRUE(admits(caller(first_), Allow::not_compared));
}

// A process that an earlier run left behind, or that found another job at its address.
TEST_F(CallAdmissionTest, AnotherRunOrJobIsRefusedByName) {
  wire::Caller stranger = caller(first_);
  stranger.set_run("ffffffffffffffff");
  EXPECT_FALSE(admits(stranger));
  EXPECT_EQ(said_.code(), Code::failed_precondition);
  EXPECT_THAT(said_.message(), AllOf(HasSubstr("worker 0 (test) and server 0 do not belong together"), HasSubstr(kRun),
                                     HasSubstr("ffffffffffffffff")));
  stranger = caller(first_);
  stranger.set_job("other");
  EXPECT_FALSE(admits(stranger, Allow::not_compared));
  EXPECT_THAT(said_.message(), HasSubstr("server 0 serves job 'ctr'; test belongs to job 'other'"));
}

TEST_F(CallAdmissionTest, NothingIsAnsweredBeforeHello) {
  EXPECT_FALSE(admits(caller(0), Allow::observers));
  EXPECT_EQ(said_.code(), Code::unauthenticated);
  EXPECT_THAT(said_.message(), AllOf(HasSubstr("test"), HasSubstr("say Hello first")));
}

// The incarnation decides: a process that was started again has the place, and the one before it learns why it has none.
TEST_F(CallAdmissionTest, OnlyTheNewestIncarnationIsHeard) {
  const uint64_t second = state_->members().hello(0, 2000, "host:2");
  ASSERT_GT(second, first_);
  EXPECT_FALSE(admits(caller(first_)));
  EXPECT_EQ(said_.code(), Code::aborted);
  EXPECT_THAT(said_.message(), HasSubstr("host:2")) << "who has the place now";
  EXPECT_TRUE(admits(caller(second), Allow::not_compared));
}

// Nothing may be read from tables that lack what was acknowledged: a worker compares before its other calls are answered.
TEST_F(CallAdmissionTest, AWorkerComparesBeforeItReads) {
  const uint64_t other = state_->members().hello(1, 3000, "host:3");
  EXPECT_FALSE(admits(caller(other, 1)));
  EXPECT_EQ(said_.code(), Code::unauthenticated);
  EXPECT_THAT(said_.message(), HasSubstr("worker 1 has not compared yet"));
  EXPECT_FALSE(admits(caller(other, 1), Allow::observers));
  EXPECT_TRUE(admits(caller(other, 1), Allow::not_compared)) << "a heartbeat";
  state_->members().compared(1, other);
  EXPECT_TRUE(admits(caller(other, 1)));
}

TEST_F(CallAdmissionTest, ObserversReadAndDoNothingElse) {
  const uint64_t observer = *observers_.hello(77);
  EXPECT_TRUE(admits(caller(observer), Allow::observers));
  for (const Allow allow : {Allow::workers, Allow::not_compared}) {
    EXPECT_FALSE(admits(caller(observer), allow));
    EXPECT_EQ(said_.code(), Code::failed_precondition);
    EXPECT_THAT(said_.message(), HasSubstr("an observer only reads"));
  }
  EXPECT_FALSE(admits(caller(uint64_t{1} << 63), Allow::observers)) << "of another process of the server";
  EXPECT_EQ(said_.code(), Code::unauthenticated);
  EXPECT_THAT(said_.message(), HasSubstr("say Hello again"));
}

TEST_F(CallAdmissionTest, AWorkerThatThereIsNotIsRefused) {
  EXPECT_FALSE(admits(caller(first_, 2)));
  EXPECT_FALSE(admits(caller(first_, 4'000'000'000u), Allow::not_compared));
}

// A server that was started again with nothing: who says Hello is told how the job keeps its state.
TEST_F(CallAdmissionTest, AServerWithoutAStateSaysWhatItHasLost) {
  state_.clear();
  EXPECT_FALSE(admits(caller(first_)));
  EXPECT_EQ(said_.code(), Code::failed_precondition);
  EXPECT_THAT(said_.message(),
              AllOf(HasSubstr("does not know worker 0 any more"), HasSubstr("durability=snapshot"), HasSubstr("--directory")));
  EXPECT_FALSE(admits(caller(0)));
  EXPECT_THAT(said_.message(), HasSubstr("serves no job yet; workers introduce themselves with Hello first (test did not)"));
}

// An incarnation from the time after the last snapshot: with durability=snapshot the worker goes on, and the loss is counted as a
// change that the next snapshot has to have; otherwise it is refused.
TEST_F(CallAdmissionTest, AWorkerOfALostHelloGoesOnWhereLossIsAllowed) {
  EXPECT_FALSE(admits(caller(first_ + 5), Allow::not_compared));
  EXPECT_EQ(said_.code(), Code::failed_precondition);
  EXPECT_THAT(said_.message(), HasSubstr("does not know worker 0 any more"));
  EXPECT_EQ(counts_.news, 0u);
  admission_.set_lossy();
  EXPECT_TRUE(admits(caller(first_ + 5), Allow::not_compared)) << said_.message();
  EXPECT_EQ(counts_.news, 1u);
  EXPECT_EQ(counts_.changes, 1u);
  EXPECT_TRUE(admits(caller(first_ + 5), Allow::not_compared));
  EXPECT_EQ(counts_.news, 1u) << "once";
  EXPECT_FALSE(admits(caller(first_), Allow::not_compared)) << "the process before it stays out";
  EXPECT_EQ(said_.code(), Code::aborted);
}

// An observer is of no run that could be another, but its message says one: it is compared like a worker's.
TEST_F(CallAdmissionTest, TheRunOfAnObserverIsCompared) {
  wire::Caller observer = caller(*observers_.hello(77));
  observer.set_run("ffffffffffffffff");
  EXPECT_FALSE(admits(observer, Allow::observers));
  EXPECT_EQ(said_.code(), Code::failed_precondition);
}

}  // namespace
}  // namespace argosy::ps
