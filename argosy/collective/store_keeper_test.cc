#include "argosy/collective/store_keeper.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <deque>
#include <memory>
#include <thread>

#include "argosy/base/clock.h"
#include "argosy/base/socket.h"
#include "argosy/base/thread.h"

namespace argosy::collective {
namespace {

using ::testing::HasSubstr;

constexpr double kSeconds = 60;

// Launchers' ends of sockets, their keepers in threads, and a real c10d store between them.
class StoreKeeperTest : public ::testing::Test {
 protected:
  struct Keeper {
    std::unique_ptr<LineSocket> launcher;
    std::deque<std::string> lines = {};  // that have come
    Status end = {};
    Thread thread = {};
  };

  StoreKeeperTest() {
    auto listener = listen_at({.host = "127.0.0.1"});
    address_ = *local_address(*listener);
    start(first_, {.address = address_, .listener = std::move(*listener), .greeting = "hello"});
  }
  ~StoreKeeperTest() override {
    for (Keeper* keeper : {&guest_, &first_}) {
      keeper->launcher.reset();
      keeper->thread.join();
    }
  }

  static void start(Keeper& keeper, StoreKeeperOptions options) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    keeper.launcher = std::make_unique<LineSocket>(Fd(ends[0]));
    auto shared = std::make_shared<StoreKeeperOptions>(std::move(options));
    keeper.thread = Thread("keeper", [&keeper, shared, its = ends[1]] {
      LineSocket launcher{Fd(its)};
      keeper.end = keep_store(launcher, std::move(*shared), [] {});
    });
  }
  static std::string next_line(Keeper& keeper) {
    const Deadline deadline = Deadline::after_seconds(kSeconds);
    while (keeper.lines.empty() && keeper.launcher->open() && !deadline.passed()) {
      for (std::string& line : keeper.launcher->receive()) keeper.lines.push_back(std::move(line));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (keeper.lines.empty()) return "no line came; the keeper " + keeper.launcher->why_closed();
    const std::string line = keeper.lines.front();
    keeper.lines.pop_front();
    return line;
  }

  Address address_;
  Keeper first_, guest_;
};

TEST_F(StoreKeeperTest, CarriesLinesBothWaysAndTheLastOneWhenTheLauncherIsGone) {
  start(guest_, {.address = address_, .seconds = kSeconds});
  EXPECT_EQ(next_line(guest_), "welcome 1 hello");
  guest_.launcher->send("gone 1 farewell");
  guest_.launcher->send("letter 1 up");
  EXPECT_EQ(next_line(first_), "letter 1 up");
  first_.launcher->send("letter 1 down");
  EXPECT_EQ(next_line(guest_), "letter 1 down");
  guest_.launcher->send("letter 1 last words");
  guest_.launcher.reset();  // kill -9 looks the same
  EXPECT_EQ(next_line(first_), "letter 1 last words");
  EXPECT_EQ(next_line(first_), "gone 1 farewell");
  guest_.thread.join();
  EXPECT_TRUE(guest_.end.ok());
}

TEST_F(StoreKeeperTest, AStoreThatEndsIsTold) {
  start(guest_, {.address = address_, .seconds = kSeconds});
  EXPECT_EQ(next_line(guest_), "welcome 1 hello");
  first_.launcher.reset();
  first_.thread.join();
  EXPECT_THAT(next_line(guest_), HasSubstr("lost "));
  guest_.thread.join();
  EXPECT_FALSE(guest_.end.ok());
}

TEST_F(StoreKeeperTest, WhatIsNoMeetingPlaceIsTold) {
  auto listener = listen_at({.host = "127.0.0.1"});
  const Address nobody = *local_address(*listener);
  listener->close();
  start(guest_, {.address = nobody, .seconds = 0.5});
  EXPECT_THAT(next_line(guest_), HasSubstr("lost "));
  guest_.thread.join();
  EXPECT_FALSE(guest_.end.ok());
}

}  // namespace
}  // namespace argosy::collective
