#include "argosy/collective/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "argosy/base/clock.h"

namespace argosy::collective {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WatchTest : public ::testing::Test {
 protected:
  std::unique_ptr<Watch> watch(int rank, int size, WatchOptions options = {}) {
    options.beat = std::chrono::milliseconds(20);
    return std::make_unique<Watch>(store_, rank, size, std::move(options));
  }
  void set(const std::string& key, const std::string& value) { store_->set(key, value); }
  std::string get(const std::string& key) {
    const auto bytes = store_->get(key);  // waits for it
    return {bytes.begin(), bytes.end()};
  }

  c10::intrusive_ptr<c10d::Store> store_ = c10::make_intrusive<c10d::HashStore>();
};

TEST_F(WatchTest, WritesABeatWithWhatItDoes) {
  const auto one = watch(1, 2);
  one->doing("all_reduce 7");
  for (std::string beat = get("beat/1"); beat.find("all_reduce 7") == std::string::npos; beat = get("beat/1"))
    std::this_thread::yield();
  one->doing("");
  set("left/0", "1");
}

TEST_F(WatchTest, AllWellAndDoingTheSameIsNoReport) {
  const auto zero = watch(0, 2), one = watch(1, 2);
  zero->doing("barrier 3"), one->doing("barrier 3");
  std::string report;
  const Deadline patience = Deadline::after_seconds(30);
  do report = zero->report();
  while (!report.empty() && !patience.passed());  // until both have said it
  EXPECT_EQ(report, "");
}

TEST_F(WatchTest, SaysWhoIsElsewhere) {
  const auto zero = watch(0, 2), one = watch(1, 2);
  zero->doing("barrier 3"), one->doing("all_reduce 9");
  EXPECT_THAT(zero->report(), HasSubstr("rank 1 is in all_reduce 9"));
}

// One that has stopped to beat is named, with what it did last.
TEST_F(WatchTest, SaysWhoIsSilent) {
  const auto zero = watch(0, 3);
  set("beat/1", "5 broadcast 2");
  set("left/2", "1");
  EXPECT_THAT(zero->report(), ::testing::AllOf(HasSubstr("rank 1 is lost: no sign of life for 0.1 s, last seen in broadcast 2"),
                                               HasSubstr("rank 2 has left the job")));
}

TEST_F(WatchTest, ASilenceIsToldToAll) {
  std::promise<std::string> heard;
  const auto zero = watch(0, 3, {.peer_timeout = std::chrono::milliseconds(100)});
  const auto two = watch(2, 3, {.on_loss = [&](const std::string& who) { heard.set_value(who); }});
  set("beat/1", "5 broadcast 2");
  auto words = heard.get_future();
  ASSERT_EQ(words.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_THAT(words.get(), HasSubstr("rank 1 gave no sign of life"));
}

TEST_F(WatchTest, OneThatLeftInOrderIsNotLost) {
  bool lost = false;
  {
    const auto zero = watch(0, 2, {.peer_timeout = std::chrono::milliseconds(60), .on_loss = [&](const auto&) { lost = true; }});
    watch(1, 2).reset();
    EXPECT_THAT(zero->report(), HasSubstr("rank 1 has left the job"));
    EXPECT_THAT(zero->report(), Not(HasSubstr("lost")));
  }
  EXPECT_FALSE(lost);
}

// The host of the store stays while others still write to it, and no longer than that.
TEST_F(WatchTest, TheHostWaitsForTheOthersToLeave) {
  auto zero = watch(0, 2), one = watch(1, 2);
  std::future<void> host = std::async(std::launch::async, [&] { zero.reset(); });
  EXPECT_EQ(get("left/0"), "1");
  EXPECT_EQ(host.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout) << "rank 1 is there";
  one.reset();
  EXPECT_EQ(host.wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST_F(WatchTest, TheHostDoesNotWaitForEver) {
  auto zero = watch(0, 2);
  set("beat/1", "0 starting");
  const Stopwatch since;
  zero.reset();
  EXPECT_GT(since.seconds(), 2);
  EXPECT_LT(since.seconds(), 20);
}

}  // namespace
}  // namespace argosy::collective
