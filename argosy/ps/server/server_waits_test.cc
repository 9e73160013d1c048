#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "argosy/ps/server/server_call.h"
#include "argosy/ps/server/server_scratch.h"

// Whom a server waits for, and for how long.
namespace argosy::ps {
namespace {

using namespace scratch;
using testing::ElementsAre;
using testing::HasSubstr;

// The lease of a worker that is to be lost while another is to live: longer than a thread of a busy machine is held up.
constexpr double kLease = 4;
constexpr double kPatience = 60;  // for what must come

// The answer must be on its way long before the caller gives up, or a thread that is held up keeps the names from it.
TEST(ServerWaits, LeaveTimeForTheAnswer) {
  const auto margin = [](double patience) {
    const Call call({.deadline = Deadline::after_seconds(patience)}, rpc::Reply(nullptr));
    return std::chrono::duration<double>(call.request.deadline.when() - call.give_up()).count();
  };
  EXPECT_NEAR(margin(600), 5, 0.01);
  EXPECT_NEAR(margin(8), 2, 0.5);  // a quarter of what is left when the call arrives
}

TEST(ServerWaits, NamesWhoIsMissingBeforeTheCallerGivesUp) {
  const JobSpec spec = job(Mode::sync, 3, {counting_rows(), counting_dense("w")});
  ServerOptions options = InProcess::options();
  options.lease_seconds = 1000;
  InProcess process(options);
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  // Long enough for the answer to come a while before the deadline; all three at once.
  constexpr double kSeconds = 8;
  auto pulling = std::async(std::launch::async, [&] { return first.pull_rows(0, {1}, Position{0, 1}, kSeconds); });
  auto gathering = std::async(std::launch::async, [&] { return first.gather("start", 1, "", kSeconds); });
  wire::WaitInitialisedRequest wait;
  *wait.mutable_caller() = second.caller();
  const auto values = second.call<wire::WaitInitialisedReply>(wire::WAIT_INITIALISED, wait, {}, kSeconds);
  const auto pull = pulling.get();
  EXPECT_EQ(pull.status().code(), Code::deadline_exceeded);
  EXPECT_THAT(pull.status().message(), HasSubstr("waits for worker 0 (host:"));
  EXPECT_THAT(pull.status().message(), HasSubstr("worker 2, which never came"));
  const auto barrier = gathering.get();
  EXPECT_THAT(barrier.status().message(), HasSubstr("at barrier 'start' number 1; missing: worker 1 (host:"));
  EXPECT_THAT(values.status().message(), HasSubstr("for first values of 'w', which worker 0 sets"));
}

TEST(ServerWaits, FailsCallsThatWaitForALostWorkerAndNamesIt) {
  const JobSpec spec = job(Mode::sync, 2, {counting_rows()});
  ServerOptions options = InProcess::options();
  options.lease_seconds = kLease;
  InProcess process(options);
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  auto waiting = std::async(std::launch::async, [&] { return first.gather("b", 1, "", kPatience); });
  while (waiting.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) ASSERT_OK(first.heartbeat());
  const auto barrier = waiting.get();
  EXPECT_EQ(barrier.status().code(), Code::failed_precondition);
  EXPECT_THAT(barrier.status().message(), HasSubstr("lost: worker 1 (host:"));
  ASSERT_OK(second.heartbeat());  // it was only slow
  EXPECT_TRUE(second.pull_rows(0, {1}).ok());
}

// Its last heartbeat goes another way than what it says at its end, and may come later.
TEST(ServerWaits, AHeartbeatThatComesLateReturnsNobodyToLife) {
  ServerOptions options = InProcess::options();
  options.lease_seconds = 1000;
  InProcess process(options);
  const JobSpec spec = job(Mode::sync, 2, {counting_rows()});
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  wire::GoodbyeRequest failed;
  *failed.mutable_caller() = second.caller();
  failed.set_failed("ended with status 1");
  ASSERT_OK(second.call<wire::GoodbyeReply>(wire::GOODBYE, failed));
  ASSERT_OK(second.heartbeat());
  EXPECT_THAT(first.gather("b", 1, "", kPatience).status().message(), HasSubstr("which ended with status 1"));
}

// A process that fails says so: nobody has to wait for its lease to end, and it has not finished.
TEST(ServerWaits, ForNobodyWhoSaysThatHeHasFailed) {
  for (const OnWorkerLoss choice : {OnWorkerLoss::fail, OnWorkerLoss::shrink}) {
    ServerOptions options = InProcess::options();
    options.lease_seconds = 1000;
    options.on_worker_loss = choice;
    const JobSpec spec = job(Mode::sync, 2, {counting_rows()});
    InProcess process(options);
    Worker one = process.worker(spec, 0), failed = process.worker(spec, 1);
    ASSERT_TRUE(one.hello().ok());
    ASSERT_TRUE(failed.hello().ok());
    wire::GoodbyeRequest goodbye;
    *goodbye.mutable_caller() = failed.caller();
    goodbye.set_failed("ended with status 7");
    ASSERT_TRUE(failed.call<wire::GoodbyeReply>(wire::GOODBYE, goodbye).ok());
    const auto met = one.gather("barrier", 1, "");
    EXPECT_EQ(met.ok(), choice == OnWorkerLoss::shrink);
    if (choice == OnWorkerLoss::fail) {
      EXPECT_THAT(met.status().message(), HasSubstr("which ended with status 7"));
    }
    ASSERT_TRUE(one.goodbye().ok());
    const auto over = process.server->wait(Deadline::after_seconds(0.1));
    ASSERT_TRUE(over.ok());
    EXPECT_EQ(*over, choice == OnWorkerLoss::shrink) << "it is not done";
    if (*over) continue;
    Worker again = process.worker(spec, 1);
    EXPECT_TRUE(again.hello().ok());
    EXPECT_TRUE(again.heartbeat().ok()) << "it may be started again";
  }
}

TEST(ServerWaits, ShrinksTheJobWhereThatIsAskedFor) {
  const JobSpec spec = job(Mode::sync, 2, {counting_rows()});
  ServerOptions options = InProcess::options();
  options.lease_seconds = kLease;
  options.on_worker_loss = OnWorkerLoss::shrink;
  InProcess process(options);
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  ASSERT_OK(first.push({batch_id(0, 0)}, {count_at({5}, 2)}, {}, Position{0, 0}));
  auto waiting = std::async(std::launch::async, [&] { return first.pull_rows(0, {5}, Position{0, 1}, kPatience); });
  while (waiting.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) ASSERT_OK(first.heartbeat());
  EXPECT_THAT(*waiting.get(), ElementsAre(2, 2));  // alone
  EXPECT_EQ(second.heartbeat().code(), Code::aborted);
  // Started again it joins, and is told that its old steps are over.
  Worker again = process.worker(spec, 1);
  ASSERT_OK(again.hello());
  EXPECT_EQ(*again.push({batch_id(0, 0)}, {count_at({5})}, {}, Position{0, 0}), wire::LATE);
}

// A server whose workers somebody starts again ends, naming them, when those that are left have been away for longer than anybody
// waits.
TEST(ServerWaits, GivesUpWhenTheLastWorkersAreLost) {
  const JobSpec spec = job(Mode::async, 2, {});
  ServerOptions options = InProcess::options();
  options.workers_return = true;
  options.lease_seconds = 1.5;
  options.worker_wait_seconds = 1.5;
  for (const bool one_is_done : {true, false}) {
    InProcess process(options);
    Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
    ASSERT_OK(first.hello());
    ASSERT_OK(second.hello());
    if (one_is_done) ASSERT_OK(first.goodbye());
    const auto over = process.server->wait(Deadline::after_seconds(kPatience));
    EXPECT_EQ(over.status().code(), Code::deadline_exceeded);
    EXPECT_THAT(over.status().message(), HasSubstr("worker 1 (")) << one_is_done;
    EXPECT_EQ(over.status().message().find("worker 0") == std::string::npos, one_is_done);
  }
}

// Neither a server to which nobody comes waits for ever, nor one that some of the workers never reach.
TEST(ServerWaits, GivesUpOnWorkersThatNeverCome) {
  ServerOptions options = InProcess::options();
  options.lease_seconds = 0.2;
  options.worker_start_seconds = 3;
  for (const bool one_comes : {true, false}) {
    InProcess process(options);
    Worker first = process.worker(job(Mode::async, 2, {}), 0);
    if (one_comes) {
      ASSERT_OK(first.hello());
      ASSERT_OK(first.goodbye());
    }
    const auto over = process.server->wait(Deadline::after_seconds(kPatience));
    EXPECT_EQ(over.status().code(), Code::deadline_exceeded);
    EXPECT_THAT(over.status().message(), HasSubstr(one_comes ? "missing: worker 1, which never came" : "missing: all of them"));
  }
}

// Nobody waits ten minutes for workers that have all said that they failed, or have done their work; but who starts them again
// is given the time to.
TEST(ServerWaits, EndsSoonWhenAllWorkersHaveFailed) {
  constexpr double kShort = 1;
  const JobSpec spec = job(Mode::async, 3, {});
  ServerOptions options = InProcess::options();
  options.lease_seconds = kShort;
  for (const OnWorkerLoss choice : {OnWorkerLoss::fail, OnWorkerLoss::shrink}) {
    options.on_worker_loss = choice;
    InProcess process(options);
    Worker done = process.worker(spec, 0), failed = process.worker(spec, 1), killed = process.worker(spec, 2);
    for (Worker* worker : {&done, &failed, &killed}) ASSERT_OK(worker->hello());
    if (choice == OnWorkerLoss::fail) ASSERT_OK(done.goodbye());
    ASSERT_OK(failed.fail("ended with status 1"));
    if (choice == OnWorkerLoss::shrink) ASSERT_OK(done.fail("ended with status 2"));
    const auto over = process.server->wait(Deadline::after_seconds(kPatience));
    EXPECT_EQ(over.status().code(), Code::aborted);
    EXPECT_THAT(over.status().message(), HasSubstr("worker 1 (host:"));
    EXPECT_THAT(over.status().message(), HasSubstr("which ended with status 1"));
  }
  for (const bool launcher : {true, false}) {
    options.workers_return = launcher;
    options.on_worker_loss = launcher ? OnWorkerLoss::fail : OnWorkerLoss::wait;
    InProcess process(options);
    Worker one = process.worker(job(Mode::async, 1, {}), 0);
    ASSERT_OK(one.hello());
    ASSERT_OK(one.fail("ended with status 1"));
    EXPECT_FALSE(*process.server->wait(Deadline::after_seconds(3 * kShort))) << "it may be started again";
  }
}

// Workers that are killed say nothing; where nobody starts them again, two leases of silence are enough.
TEST(ServerWaits, EndsSoonWhenAllWorkersAreKilled) {
  constexpr double kShort = 1;
  const JobSpec spec = job(Mode::async, 2, {});
  ServerOptions options = InProcess::options();
  options.lease_seconds = kShort;
  options.worker_wait_seconds = 1000;
  InProcess process(options);
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  const Stopwatch watch;
  const auto over = process.server->wait(Deadline::after_seconds(kPatience));
  EXPECT_EQ(over.status().code(), Code::aborted);
  EXPECT_THAT(over.status().message(), HasSubstr("worker 1 (host:"));
  EXPECT_GT(watch.seconds(), 1.5 * kShort) << "one that only was away for a while is waited for";
  options.workers_return = true;
  InProcess watched(options);
  Worker again = watched.worker(spec, 0), other = watched.worker(spec, 1);
  ASSERT_OK(again.hello());
  ASSERT_OK(other.hello());
  EXPECT_FALSE(*watched.server->wait(Deadline::after_seconds(4 * kShort))) << "a launcher starts them again";
}

// Scripts save in worker 0: a job that goes on without it would end well, and have saved nothing.
TEST(ServerWaits, DoesNotShrinkAJobByItsFirstWorker) {
  const JobSpec spec = job(Mode::sync, 2, {counting_rows()});
  ServerOptions options = InProcess::options();
  options.lease_seconds = kLease;
  options.on_worker_loss = OnWorkerLoss::shrink;
  InProcess process(options);
  Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
  ASSERT_OK(first.hello());
  ASSERT_OK(second.hello());
  ASSERT_OK(first.fail("ended with status 1"));
  const auto met = second.gather("barrier", 1, "");
  EXPECT_EQ(met.status().code(), Code::failed_precondition);
  EXPECT_THAT(met.status().message(), HasSubstr("lost: worker 0 (host:"));
  EXPECT_EQ(second.stats()->workers(0).state(), "live");
  ASSERT_OK(second.goodbye());
  EXPECT_EQ(process.server->wait(Deadline::after_seconds(kPatience)).status().code(), Code::aborted) << "not well";
}

// A worker that trains is enough, however long the others take.
TEST(ServerWaits, GoesOnWhileSomebodyIsHeardOf) {
  ServerOptions options = InProcess::options();
  options.lease_seconds = 2;
  options.worker_wait_seconds = 2;
  options.worker_start_seconds = 3;
  InProcess process(options);
  Worker first = process.worker(job(Mode::async, 2, {}), 0), second = process.worker(job(Mode::async, 2, {}), 1);
  ASSERT_OK(first.hello());
  for (const Stopwatch watch; watch.seconds() < 6; std::this_thread::sleep_for(std::chrono::milliseconds(20)))
    ASSERT_OK(first.heartbeat());
  ASSERT_OK(second.hello());
  ASSERT_OK(first.goodbye());
  ASSERT_OK(second.goodbye());
  EXPECT_TRUE(*process.server->wait(Deadline::after_seconds(kPatience)));
}

// A job that goes on without a lost worker also ends without it, whether it was lost before the others were done or after.
TEST(ServerWaits, EndsAJobThatHasShrunk) {
  const JobSpec spec = job(Mode::async, 2, {});
  ServerOptions options = InProcess::options();
  options.lease_seconds = kLease;
  options.on_worker_loss = OnWorkerLoss::shrink;
  for (const bool lost_first : {true, false}) {
    InProcess process(options);
    Worker first = process.worker(spec, 0), second = process.worker(spec, 1);
    ASSERT_OK(first.hello());
    ASSERT_OK(second.hello());
    const auto lost = [&] { return first.stats()->workers(1).state() == "lost"; };  // asking is a sign of life too
    for (const Stopwatch watch; lost_first && !lost(); std::this_thread::sleep_for(std::chrono::milliseconds(20)))
      ASSERT_LT(watch.seconds(), kPatience);
    ASSERT_OK(first.goodbye());
    EXPECT_TRUE(*process.server->wait(Deadline::after_seconds(kPatience)));
  }
}

}  // namespace
}  // namespace argosy::ps
