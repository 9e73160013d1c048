#include "argosy/rpc/rpc_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>
#include <optional>

#include "argosy/base/mutex.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/endpoint.h"

namespace argosy::rpc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Deadline soon() { return Deadline::after_seconds(60); }

// The answer's header says how the call came.
void tell_peer(Request request, Reply reply) { reply.send(request.peer); }

std::unique_ptr<RpcServer> start(RpcServerOptions options, Handler handler = tell_peer) {
  if (options.address.empty()) options.address = "127.0.0.1:0";
  auto server = RpcServer::start(options, std::move(handler));
  EXPECT_TRUE(server.ok()) << server.status().to_string();
  return std::move(*server);
}

std::unique_ptr<Channel> connect(const std::string& endpoint, const ChannelOptions& options = {}) {
  auto channel = connect_channel(endpoint, options);
  EXPECT_TRUE(channel.ok()) << channel.status().to_string();
  return std::move(*channel);
}

std::string peer_seen(Channel& channel) {
  const auto answer = channel.call_and_wait({.method = 1}, soon());
  return answer.ok() ? answer->header : answer.status().to_string();
}

TEST(RpcServer, NamesThePortThatIsInUse) {
  const auto first = start({});
  EXPECT_GT(first->port(), 0);
  EXPECT_EQ(first->endpoint(), fmt::format("127.0.0.1:{}", first->port()));
  const auto second = RpcServer::start({.address = first->endpoint()}, tell_peer);
  EXPECT_EQ(second.status().code(), Code::unavailable);
  EXPECT_THAT(second.status().message(), HasSubstr(first->endpoint()));
  EXPECT_THAT(second.status().message(), HasSubstr("another process uses the port"));
}

TEST(RpcServer, RefusesAddressesThatCannotWork) {
  EXPECT_THAT(RpcServer::start({.address = "127.0.0.1"}, tell_peer).status().message(), HasSubstr("host:port"));
  EXPECT_THAT(RpcServer::start({.address = ":80"}, tell_peer).status().message(), HasSubstr("host:port"));
  EXPECT_THAT(RpcServer::start({.address = "127.0.0.1:70000"}, tell_peer).status().message(), HasSubstr("70000"));
  EXPECT_THAT(RpcServer::start({.address = "192.0.2.7:0"}, tell_peer).status().message(), HasSubstr("192.0.2.7:0"));
  EXPECT_THAT(connect_channel("nowhere", {}).status().message(), HasSubstr("'nowhere'"));
}

TEST(RpcServer, ListensOnItsAddressOnly) {
  const auto server = start({.unix_socket = false});
  const auto channel = connect(fmt::format("127.0.0.2:{}", server->port()));
  EXPECT_EQ(channel->wait_ready(Deadline::after_seconds(0.2)).code(), Code::unavailable);
}

TEST(RpcServer, TakesAHostName) {
  const auto server = start({.address = "localhost:0", .unix_socket = false});
  const auto channel = connect(server->endpoint());
  EXPECT_EQ(channel->wait_ready(soon()), Status::ok_status());
}

TEST(RpcServer, CountsCallsAndBytes) {
  const auto server = start({}, [](Request, Reply reply) { reply.send("", {Slice::own(std::string(3000, 'a'))}); });
  const auto channel = connect(server->endpoint());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(channel->call_and_wait({1, "", {Slice::own(std::string(1000, 'q'))}}, soon()).ok());
  // The last answer may be here before it is counted.
  const uint64_t ping = 32;  // the stream's first
  for (const Deadline deadline = soon(); server->counters().bytes_out < ping + 5 * 3032u && !deadline.passed();)
    std::this_thread::yield();
  const RpcServerCounters counters = server->counters();
  EXPECT_EQ(counters.calls, 5u);
  EXPECT_EQ(counters.bytes_in, ping + 5 * 1032u);
  EXPECT_EQ(counters.bytes_out, ping + 5 * 3032u);
  EXPECT_EQ(counters.refused, 0u);
}

TEST(RpcServer, WarnsWhereOtherMachinesMayCall) {
  ::testing::internal::CaptureStderr();
  start({.address = "0.0.0.0:0"});
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("neither TLS nor a job token"));
  ::testing::internal::CaptureStderr();
  start({.address = "0.0.0.0:0", .security = {.token = "secret"}});
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("without TLS"));
  ::testing::internal::CaptureStderr();
  start({.address = "127.0.0.1:0"});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// One message too large ends its own call; the stream that it came over carries others.
TEST(RpcServer, RefusesAMessageThatIsTooLargeAndNoOther) {
  const auto server = start({.max_message_bytes = 1 << 20},
                            [](Request request, Reply reply) { reply.send("", {Slice::own(std::string(request.method, 'a'))}); });
  const auto channel = connect(server->endpoint(), {.max_message_bytes = 4 << 20});
  const auto large = channel->call_and_wait({1, "", {Slice::own(std::string(2 << 20, 'q'))}}, soon());
  EXPECT_EQ(large.status().code(), Code::resource_exhausted);
  EXPECT_THAT(large.status().message(), HasSubstr("1048576 allowed"));
  EXPECT_TRUE(channel->call_and_wait({.method = 1}, soon()).ok());

  const auto too_large_to_send = channel->call_and_wait({1, "", {Slice::own(std::string(5 << 20, 'q'))}}, soon());
  EXPECT_EQ(too_large_to_send.status().code(), Code::resource_exhausted);
  const auto narrow = connect(server->endpoint(), {.max_message_bytes = 1000});
  const auto large_answer = narrow->call_and_wait({.method = 2000}, soon());
  EXPECT_EQ(large_answer.status().code(), Code::resource_exhausted);
  EXPECT_TRUE(narrow->call_and_wait({.method = 500}, soon()).ok());
}

// More waits than a stream may have in the server's memory: the senders wait, and everything is answered in the end.
TEST(RpcServer, SlowsCallersDownThatSendMoreThanItHandles) {
  constexpr int kCalls = 200;
  std::latch go(1), done(kCalls);
  const auto server = start({.threads = 1}, [&](Request, Reply reply) {
    go.wait();
    reply.send("");
  });
  const auto channel = connect(server->endpoint());
  const auto mebibyte = std::make_shared<const std::string>(1 << 20, 'x');
  std::atomic<int> good = 0;
  for (int i = 0; i < kCalls; ++i) {
    channel->call({1, "", {{mebibyte->data(), mebibyte->size(), mebibyte}}}, soon(), [&](Result<Received> answer) {
      good += answer.ok();
      done.count_down();
    });
  }
  for (const Deadline deadline = soon(); server->counters().bytes_in < (60u << 20) && !deadline.passed();)
    std::this_thread::yield();
  EXPECT_LT(server->counters().bytes_in, 80u << 20);
  go.count_down();
  done.wait();
  EXPECT_EQ(good, kCalls);
}

TEST(RpcServer, LetsCallsFinishWhenItStops) {
  std::latch begun(1);
  const auto server = start({}, [&](Request, Reply reply) {
    begun.count_down();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    reply.send("finished");
  });
  const auto channel = connect(server->endpoint());
  std::optional<Result<Received>> answer;
  std::latch done(1);
  channel->call({.method = 1}, soon(), [&](Result<Received> result) {
    answer.emplace(std::move(result));
    done.count_down();
  });
  begun.wait();
  server->stop(soon());
  done.wait();
  ASSERT_TRUE(answer->ok()) << answer->status().to_string();
  EXPECT_EQ((*answer)->header, "finished");
  const auto late = channel->call_and_wait({.method = 1}, soon());
  EXPECT_EQ(late.status().code(), Code::unavailable);
  EXPECT_THAT(late.status().message(), HasSubstr(server->endpoint()));
}

// A sync step that never completes must not keep the server from ending.
TEST(RpcServer, StopsInTimeWhileRepliesAreHeld) {
  Mutex mutex;
  std::vector<Reply> held;
  std::latch begun(3);
  const auto server = start({}, [&](Request, Reply reply) {
    MutexLock lock(mutex);
    held.push_back(std::move(reply));
    begun.count_down();
  });
  const auto channel = connect(server->endpoint());
  std::latch done(3);
  std::atomic<int> unavailable = 0;
  for (int i = 0; i < 3; ++i) {
    channel->call({.method = 1}, soon(), [&](Result<Received> answer) {
      unavailable += answer.status().code() == Code::unavailable;
      done.count_down();
    });
  }
  begun.wait();
  Stopwatch watch;
  server->stop(Deadline::after_seconds(0.1));
  EXPECT_LT(watch.seconds(), 40);
  done.wait();
  EXPECT_EQ(unavailable, 3);
  for (Reply& reply : held) {
    EXPECT_TRUE(reply.cancelled());
    reply.send("too late");
  }
}

class ReconnectTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Sockets, ReconnectTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "UnixSocket" : "Tcp"; });

TEST_P(ReconnectTest, AChannelFindsAServerThatWasStartedAgain) {
  auto server = start({.unix_socket = GetParam()});
  const std::string endpoint = server->endpoint();
  const auto channel = connect(endpoint);
  ASSERT_EQ(channel->wait_ready(soon()), Status::ok_status());
  for (int round = 0; round < 3; ++round) {
    server.reset();
    const auto down = channel->call_and_wait({.method = 1}, soon());
    EXPECT_EQ(down.status().code(), Code::unavailable) << down.status().to_string();
    EXPECT_THAT(down.status().message(), HasSubstr(endpoint));
    server = start({.address = endpoint, .unix_socket = GetParam()});
    ASSERT_EQ(channel->wait_ready(soon()), Status::ok_status());
    EXPECT_TRUE(channel->call_and_wait({.method = 1}, soon()).ok());
  }
}

TEST(Channel, WaitsForAServerThatComesLater) {
  std::string endpoint;
  {
    endpoint = start({})->endpoint();
  }
  const auto channel = connect(endpoint);
  Stopwatch watch;
  EXPECT_EQ(channel->wait_ready(Deadline::after_seconds(0.3)).code(), Code::unavailable);
  EXPECT_GE(watch.seconds(), 0.2);
  const auto server = start({.address = endpoint});
  EXPECT_EQ(channel->wait_ready(soon()), Status::ok_status());
}

TEST(UnixSocket, IsUsedOnTheSameMachine) {
  const auto server = start({});
  EXPECT_THAT(peer_seen(*connect(server->endpoint())), StartsWith("unix"));
  EXPECT_THAT(peer_seen(*connect(server->endpoint(), {.unix_socket = false})), StartsWith("ipv4:127.0.0.1"));
}

TEST(UnixSocket, IsLeftOutWhereTheServerHasNone) {
  const auto server = start({.unix_socket = false});
  unlink(socket_path("127.0.0.1", server->port())->c_str());  // an earlier server at this port may have been killed
  EXPECT_THAT(peer_seen(*connect(server->endpoint())), StartsWith("ipv4:127.0.0.1"));
}

// A server that was killed leaves its socket behind; the next one at that port may have none.
TEST(UnixSocket, ThatIsStaleIsLeftForTcp) {
  const auto server = start({.unix_socket = false});
  const std::string path = *socket_path("127.0.0.1", server->port());
  const int left_behind = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  unlink(path.c_str());  // an earlier server at this port may have been killed too
  ASSERT_EQ(bind(left_behind, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(left_behind);

  const auto channel = connect(server->endpoint());
  EXPECT_EQ(channel->wait_ready(soon()), Status::ok_status());
  EXPECT_THAT(peer_seen(*channel), StartsWith("ipv4:"));
  unlink(path.c_str());
}

TEST(UnixSocket, FolderIsThisUsersAlone) {
  const std::string path = *socket_path("127.0.0.1", 6170);
  EXPECT_EQ(std::filesystem::status(std::filesystem::path(path).parent_path()).permissions(), std::filesystem::perms::owner_all);
  EXPECT_NE(path, *socket_path("127.0.0.2", 6170));
  std::ofstream(path + ".file") << "no socket";
  EXPECT_FALSE(is_own_socket(path + ".file"));
  unlink((path + ".file").c_str());
}

}  // namespace
}  // namespace argosy::rpc
