// A server that comes back elsewhere is found again, by channels that were made before.
#include "argosy/rpc/named_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <latch>

#include "argosy/base/endpoint_name.h"
#include "argosy/rpc/in_process.h"
#include "argosy/testing/temporary_folder.h"

namespace argosy::rpc {
namespace {

using ::testing::HasSubstr;

Deadline soon() { return Deadline::after_seconds(60); }

// Servers by address, each of which answers with its address, or keeps the call. Thread-safe after SetUp().
class NamedChannelTest : public ::testing::Test {
 protected:
  void move_to(const std::string& address) { ASSERT_TRUE(write_endpoint(path_, address).ok()); }

  std::unique_ptr<NamedChannel> open() {
    return std::make_unique<NamedChannel>("file:" + path_, [this](const std::string& address) {
      return Result<std::unique_ptr<Channel>>(connect_in_process([this, address](Request request, Reply reply) {
        if (request.method != kKeep) return reply.send(address);
        MutexLock lock(mutex_);
        kept_.push_back(std::move(reply));
        arrived_.count_down();
      }));
    });
  }

  // Where a call goes, once it goes to `wanted`; else where the last one went.
  static std::string reached(Channel& channel, const std::string& wanted) {
    const Deadline deadline = soon();
    for (;;) {
      const auto answer = channel.call_and_wait({.method = 1}, soon());
      const std::string found = answer.ok() ? answer->header : answer.status().message();
      if (found == wanted || deadline.passed()) return found;
    }
  }

  static constexpr uint16_t kKeep = 2;
  testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("server-0");
  Mutex mutex_;
  std::latch arrived_{1};
  std::vector<Reply> kept_;
};

TEST_F(NamedChannelTest, GoesWhereTheNameSays) {
  move_to("10.0.0.1:1");
  const auto channel = open();
  EXPECT_EQ(channel->call_and_wait({.method = 1}, soon())->header, "10.0.0.1:1");
  EXPECT_EQ(channel->peer(), "file:" + path_);
  move_to("10.0.0.2:1");
  EXPECT_EQ(reached(*channel, "10.0.0.2:1"), "10.0.0.2:1");
}

// A worker that is started before the servers waits for them, and does not end.
TEST_F(NamedChannelTest, ANameMayStandForNothingYet) {
  const auto channel = open();
  const auto early = channel->call_and_wait({.method = 1}, soon());
  EXPECT_EQ(early.status().code(), Code::unavailable);
  EXPECT_THAT(early.status().message(), HasSubstr(path_));
  EXPECT_EQ(channel->wait_ready(Deadline::after_seconds(0.1)).code(), Code::unavailable);
  auto ready = std::async(std::launch::async, [&] { return channel->wait_ready(soon()); });
  move_to("10.0.0.1:1");
  EXPECT_TRUE(ready.get().ok());
  EXPECT_EQ(reached(*channel, "10.0.0.1:1"), "10.0.0.1:1");
}

// The machine of the first address is gone, and no packet says so: who waits for its answer must not wait for the deadline.
TEST_F(NamedChannelTest, CallsUnderWayEndWhenTheServerIsElsewhere) {
  move_to("10.0.0.1:1");
  const auto channel = open();
  auto waiting = std::async(std::launch::async, [&] { return channel->call_and_wait({.method = kKeep}, soon()); });
  arrived_.wait();
  move_to("10.0.0.2:1");
  const auto answer = waiting.get();
  EXPECT_EQ(answer.status().code(), Code::unavailable);
  EXPECT_THAT(answer.status().message(), HasSubstr("is no longer at 10.0.0.1:1"));
}

TEST_F(NamedChannelTest, ANameThatIsLostKeepsItsAddress) {
  move_to("10.0.0.1:1");
  const auto channel = open();
  EXPECT_EQ(reached(*channel, "10.0.0.1:1"), "10.0.0.1:1");
  std::filesystem::remove(path_);
  const Deadline later = Deadline::after_seconds(0.5);  // the name is looked up twice
  while (!later.passed()) EXPECT_EQ(channel->call_and_wait({.method = 1}, soon())->header, "10.0.0.1:1");
}

}  // namespace
}  // namespace argosy::rpc
