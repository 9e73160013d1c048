// The proxy between a channel and a server: also what a channel makes of a network that fails under it.
#include "argosy/testing/tcp_proxy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <optional>

#include "argosy/rpc/channel.h"
#include "argosy/rpc/rpc_server.h"

namespace argosy::testing {
namespace {

Deadline soon() { return Deadline::after_seconds(60); }

class TcpProxyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = rpc::RpcServer::start({.address = "127.0.0.1:0"}, [this](rpc::Request request, rpc::Reply reply) {
      ++executed_;
      reply.send(request.header, {rpc::Slice::own(std::move(request.payload))});
    });
    ASSERT_TRUE(server.ok()) << server.status().to_string();
    server_ = std::move(*server);
    auto proxy = TcpProxy::start(server_->port());
    ASSERT_TRUE(proxy.ok()) << proxy.status().to_string();
    proxy_ = std::move(*proxy);
    auto channel = rpc::connect_channel(proxy_->endpoint(), {});
    ASSERT_TRUE(channel.ok()) << channel.status().to_string();
    channel_ = std::move(*channel);
    ASSERT_EQ(channel_->wait_ready(soon()), Status::ok_status());
  }

  std::atomic<int> executed_ = 0;
  std::unique_ptr<rpc::RpcServer> server_;
  std::unique_ptr<TcpProxy> proxy_;
  std::unique_ptr<rpc::Channel> channel_;
};

TEST_F(TcpProxyTest, PassesLargeMessagesOn) {
  std::string large(20 << 20, 'x');
  large[12345678] = 'y';
  const auto answer = channel_->call_and_wait({1, "", {rpc::Slice::own(large)}}, soon());
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(answer->payload.data()), answer->payload.size()), large);
  EXPECT_EQ(proxy_->connections(), 1u);
}

TEST_F(TcpProxyTest, Delays) {
  proxy_->set_delay(std::chrono::milliseconds(50));
  Stopwatch watch;
  ASSERT_TRUE(channel_->call_and_wait({.method = 1}, soon()).ok());
  EXPECT_GE(watch.seconds(), 0.1);  // there and back
}

// The request was executed, and its caller must not be told that it was not: only that nothing is known.
TEST_F(TcpProxyTest, LosesAnswersOfExecutedRequests) {
  proxy_->set_lose_answers(true);
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  channel_->call({.method = 1}, soon(), [ended](const Result<rpc::Received>&) { *ended = true; });
  for (const Deadline deadline = soon(); executed_ == 0 && !deadline.passed();) std::this_thread::yield();
  EXPECT_EQ(executed_, 1);
  EXPECT_FALSE(*ended) << "nothing is known of it";
  EXPECT_EQ(channel_->call_and_wait({.method = 1}, Deadline::after_seconds(0.3)).status().code(), Code::deadline_exceeded);
  proxy_->set_lose_answers(false);
  ASSERT_EQ(channel_->wait_ready(soon()), Status::ok_status());
  EXPECT_TRUE(channel_->call_and_wait({.method = 1}, soon()).ok());
  channel_.reset();  // ends the first one at the latest
  EXPECT_TRUE(*ended);
}

TEST_F(TcpProxyTest, CutsConnectionsUnderCallsThatWait) {
  proxy_->set_lose_answers(true);
  std::optional<Status> ended;
  std::latch done(1);
  channel_->call({.method = 1}, soon(), [&](Result<rpc::Received> answer) {
    ended = answer.status();
    done.count_down();
  });
  for (const Deadline deadline = soon(); executed_ == 0 && !deadline.passed();) std::this_thread::yield();
  proxy_->cut();
  done.wait();
  EXPECT_EQ(ended->code(), Code::unavailable) << ended->to_string();
}

TEST_F(TcpProxyTest, RefusesConnectionsUntilToldOtherwise) {
  proxy_->set_refuse(true);
  proxy_->cut();
  EXPECT_EQ(channel_->wait_ready(Deadline::after_seconds(0.3)).code(), Code::unavailable);
  proxy_->set_refuse(false);
  EXPECT_EQ(channel_->wait_ready(soon()), Status::ok_status());
  EXPECT_EQ(proxy_->connections(), 2u);
}

}  // namespace
}  // namespace argosy::testing
