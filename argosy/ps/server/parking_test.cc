#include "argosy/ps/server/parking.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "argosy/ps/server/call_scratch.h"

namespace argosy::ps {
namespace {

using scratch::ask;
using scratch::Asked;

Asked question(size_t bytes = 10) {
  wire::GatherRequest request;
  request.set_name(std::string(bytes, 'x'));
  return ask(wire::GATHER, request);
}

// A parking place whose handler answers at once, and counts.
class ParkingTest : public testing::Test {
 protected:
  void handle(const CallPtr& call) {
    ++handled_;
    call->send({"handled"});
  }
  // Waits for it.
  static Status outcome(const Asked& asked) { return asked.answer->text().status(); }

  Limit calls_{"parked_calls", 2, "calls", "wait"}, bytes_{"parked_bytes", 1000, "bytes", "ask for less"};
  std::atomic<int> handled_{0};
  Parking parking_{2, [this](const CallPtr& call) { handle(call); }, calls_, bytes_};
};

TEST_F(ParkingTest, AWokenTopicHandlesItsCallsAndNoOthers) {
  const Asked barrier = question(), mail = question();
  parking_.park(Topic::gather, parking_.version(Topic::gather), barrier.call);
  parking_.park(Topic::mail, parking_.version(Topic::mail), mail.call);
  EXPECT_TRUE(parking_.has(Topic::gather));
  EXPECT_EQ(calls_.now(), 2u);
  parking_.wake(Topic::gather);
  EXPECT_TRUE(outcome(barrier).ok());
  EXPECT_FALSE(parking_.has(Topic::gather));
  EXPECT_TRUE(parking_.has(Topic::mail));
  EXPECT_FALSE(mail.answer->here());
  EXPECT_EQ(handled_, 1);
}

// What happened between a handler's look and its park() must not be slept through.
TEST_F(ParkingTest, AWakeBeforeTheParkIsNotMissed) {
  const Asked asked = question();
  const uint64_t seen = parking_.version(Topic::position);
  parking_.wake(Topic::position);
  parking_.park(Topic::position, seen, asked.call);
  EXPECT_TRUE(outcome(asked).ok());
}

TEST_F(ParkingTest, ACallForWhichThereIsNoRoomIsRefused) {
  const Asked first = question(), second = question(), third = question();
  for (const Asked* one : {&first, &second}) parking_.park(Topic::gather, 0, one->call);
  parking_.park(Topic::gather, 0, third.call);
  EXPECT_EQ(outcome(third).code(), Code::resource_exhausted);
  EXPECT_EQ(calls_.refused(), 1u);
  EXPECT_FALSE(first.answer->here()) << "those that wait are not disturbed";
  parking_.wake(Topic::gather);
  EXPECT_TRUE(outcome(first).ok() && outcome(second).ok());
  const Asked large = question(2000), later = question();
  parking_.park(Topic::gather, parking_.version(Topic::gather), large.call);
  EXPECT_EQ(outcome(large).code(), Code::resource_exhausted) << "its bytes count, too";
  EXPECT_EQ(calls_.now(), 0u) << "a refused call takes no place";
  parking_.park(Topic::gather, parking_.version(Topic::gather), later.call);
  EXPECT_EQ(calls_.now(), 1u);
}

// The end of a snapshot comes soon whatever callers do: they are told to try again, and not that they ask for too much.
TEST_F(ParkingTest, WhoWaitsForAThawMayTryAgain) {
  const Asked first = question(), second = question(), third = question();
  for (const Asked* one : {&first, &second, &third}) parking_.park(Topic::thaw, 0, one->call);
  EXPECT_EQ(outcome(third).code(), Code::unavailable);
}

TEST_F(ParkingTest, ChosenCallsAreTakenOutAndThoseWithoutACallerDropped) {
  const Asked first = question(1), second = question(2);
  parking_.park(Topic::gather, 0, first.call);
  parking_.park(Topic::mail, 0, second.call);
  second.answer->leave();
  const auto none = parking_.take_if([](Topic, const Call&) { return false; });
  EXPECT_TRUE(none.empty()) << "nobody is there to be answered";
  EXPECT_FALSE(parking_.has(Topic::mail));
  const auto taken = parking_.take_if([](Topic topic, const Call&) { return topic == Topic::gather; });
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].call, first.call);
  EXPECT_EQ(calls_.now(), 0u);
  EXPECT_EQ(bytes_.now(), 0u);
}

TEST_F(ParkingTest, AtTheEndEverybodyIsAnswered) {
  const Asked first = question();
  parking_.park(Topic::gather, 0, first.call);
  parking_.stop();
  EXPECT_EQ(outcome(first).message(), "the server is stopping");
  EXPECT_EQ(calls_.now(), 0u);
  const Asked late = question();
  parking_.park(Topic::gather, 0, late.call);
  EXPECT_EQ(outcome(late).code(), Code::unavailable);
  parking_.stop();
}

// A handler that is not satisfied parks its call again, as often as it takes.
TEST(Parking, ACallWaitsUntilItsHandlerIsSatisfied) {
  Limit calls("parked_calls", 10, "calls", "wait"), bytes("parked_bytes", 1000, "bytes", "ask for less");
  std::atomic<int> looked{0};
  Parking* place = nullptr;
  Parking parking(
      2,
      [&](const CallPtr& call) {
        const uint64_t seen = place->version(Topic::log);
        if (++looked == 3) return call->send({"at last"});
        place->park(Topic::log, seen, call);
      },
      calls, bytes);
  place = &parking;
  const Asked asked = question();
  parking.park(Topic::log, parking.version(Topic::log), asked.call);
  for (int wakes = 1; wakes <= 3; ++wakes) {
    parking.wake(Topic::log);
    const Stopwatch watch;
    while (looked < wakes && watch.seconds() < 60) std::this_thread::yield();
  }
  EXPECT_TRUE(asked.answer->text().ok());
  EXPECT_EQ(looked, 3);
}

}  // namespace
}  // namespace argosy::ps
