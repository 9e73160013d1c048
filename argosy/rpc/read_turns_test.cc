#include "argosy/rpc/read_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <vector>

#include "argosy/base/mutex.h"

namespace argosy::rpc {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::Ge;

constexpr ReadTurns::Source kGreedy = 1, kOther = 2;
constexpr int kTurn = 4;  // requests

// How many of so many requests, `apart` from each other, go on without a turn, while another caller asks now and then.
int gone_on(ReadTurns& turns, int requests, microseconds apart, bool others = true) {
  ReadTurns::Burst burst, other_burst;
  ReadTurns::Time now = SteadyClock::now();
  int count = 0;
  for (int i = 0; i < requests; ++i, now += apart) {
    if (others) (void)turns.goes_on(other_burst, kOther, now);
    count += turns.goes_on(burst, kGreedy, now) ? 1 : 0;
  }
  return count;
}

TEST(ReadTurns, DoNotHoldUpWhoWaitsForItsAnswers) {
  ReadTurns turns({hours(1), kTurn});
  EXPECT_EQ(gone_on(turns, 10'000, microseconds(70)), 10'000);
}

TEST(ReadTurns, AreForThoseWhoBringManyAtOnce) {
  ReadTurns turns({hours(1), kTurn});
  EXPECT_EQ(gone_on(turns, 16 + 1600, microseconds(1)), 15 + 1200);  // a turn after the sixteenth, and then after every fourth
}

// A caller that was in a hurry once gets no smaller part for ever.
TEST(ReadTurns, AreOverForWhoWaitsForItsAnswersAgain) {
  ReadTurns turns({hours(1), kTurn});
  ReadTurns::Burst burst, other_burst;
  ReadTurns::Time now = SteadyClock::now();
  const auto count = [&](int requests, microseconds apart) {
    int went_on = 0;
    for (int i = 0; i < requests; ++i, now += apart) {
      (void)turns.goes_on(other_burst, kOther, now);
      went_on += turns.goes_on(burst, kGreedy, now) ? 1 : 0;
    }
    return went_on;
  };
  EXPECT_EQ(count(16, microseconds(1)), 15);
  EXPECT_EQ(count(2, microseconds(1)), 2);  // in its turn
  now += milliseconds(2);
  EXPECT_EQ(count(16, microseconds(1)), 15);
}

// However many threads: the same requests per thread, and no timer of less than a quarter of a millisecond.
TEST(ReadTurns, AreTheSamePartOfEveryServer) {
  for (const int threads : {1, 2, 3, 4, 8, 16, 64}) {
    const ReadTurns::Pace pace = ReadTurns::pace_of(threads);
    EXPECT_THAT(pace.interval, Ge(microseconds(250)));
    const auto per_second = pace.requests * 1e9 / static_cast<double>(pace.interval.count());
    EXPECT_NEAR(per_second, 2000.0 * threads, 1) << threads;
  }
}

TEST(ReadTurns, DoNotHoldUpWhoIsAlone) {
  ReadTurns turns({hours(1), kTurn});
  ReadTurns::Burst burst;
  (void)turns.goes_on(burst, kGreedy, SteadyClock::now() - hours(1));
  EXPECT_EQ(gone_on(turns, 1600, microseconds(1), /*others=*/false), 1600);
}

TEST(ReadTurns, ComeInOrderAndNotTooOften) {
  constexpr milliseconds kInterval{20};
  ReadTurns turns({kInterval, kTurn});
  Mutex mutex;
  std::vector<int> order;
  std::vector<ReadTurns::Time> times;
  std::latch done(4);
  for (int i = 0; i < 4; ++i) {
    turns.wait_for_turn([&, i] {
      MutexLock lock(mutex);
      order.push_back(i);
      times.push_back(SteadyClock::now());
      done.count_down();
      return i != 1;  // has closed: the next one need not wait
    });
  }
  done.wait();
  MutexLock lock(mutex);
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(times[1] - times[0], Ge(kInterval));
  EXPECT_THAT(times[3] - times[2], Ge(kInterval));
}

TEST(ReadTurns, AreOverAfterStop) {
  ReadTurns turns({hours(1), kTurn});
  std::latch first(1);
  turns.wait_for_turn([&] {
    first.count_down();
    return true;
  });
  first.wait();
  const auto kept = std::make_shared<int>(0);
  const auto never = [kept] {
    ADD_FAILURE() << "this was an hour too early";
    return true;
  };
  turns.wait_for_turn(never);
  turns.stop();
  turns.wait_for_turn(never);
  EXPECT_EQ(kept.use_count(), 2);  // this one and `never`'s
}

}  // namespace
}  // namespace argosy::rpc
