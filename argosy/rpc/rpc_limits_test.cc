// What callers can make a port hold: connections, streams, requests that wait, answers that nobody takes.
#include "argosy/rpc/rpc_limits.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <latch>
#include <new>
#include <thread>

#include "argosy/base/fd.h"
#include "argosy/base/mutex.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/credentials.h"
#include "argosy/rpc/door_greeting.h"
#include "argosy/rpc/grpc_settings.h"
#include "argosy/rpc/rpc_server.h"
#include "argosy/rpc/wire_frame.h"

namespace argosy::rpc {
namespace {

using ::testing::HasSubstr;

constexpr double kPatience = 30;  // for what must come
Deadline soon() { return Deadline::after_seconds(kPatience); }

void answer_nothing(Request, Reply reply) { reply.send(""); }

std::unique_ptr<RpcServer> start(const RpcLimits& limits, const std::string& token = "", Handler handler = answer_nothing) {
  auto server = RpcServer::start({.address = "127.0.0.1:0", .security = {.token = token}, .unix_socket = false, .limits = limits},
                                 std::move(handler));
  EXPECT_TRUE(server.ok()) << server.status().to_string();
  return std::move(*server);
}

std::unique_ptr<Channel> connect(const RpcServer& server, const std::string& token = "") {
  // By TCP: a socket in the file system that a killed server left would refuse the first call.
  auto channel = connect_channel(server.endpoint(), {.security = {.token = token}, .unix_socket = false});
  EXPECT_TRUE(channel.ok()) << channel.status().to_string();
  return std::move(*channel);
}

// A connection that says nothing.
Fd connect_silently(const RpcServer& server) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server.port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

Fd connect_and_say(const RpcServer& server, const std::string& said) {
  Fd fd = connect_silently(server);
  EXPECT_EQ(::send(fd.get(), said.data(), said.size(), MSG_NOSIGNAL), static_cast<ssize_t>(said.size()));
  return fd;
}

std::string greeting(const std::string& token) {
  std::string headers = greeting_headers(door_pass(token));
  headers.insert(headers.find(':') + 1, " ");
  return "CONNECT argosy HTTP/1.1\r\nHost: argosy\r\n" + headers + "\r\n\r\n";
}

// What the other side says, up to the end of a line or of the connection.
std::string first_line(const Fd& fd) {
  std::string line;
  for (char c = 0; ::recv(fd.get(), &c, 1, 0) == 1 && c != '\r';) line += c;
  return line;
}

// Whether the other side closes it within so many seconds; what it says before is thrown away.
bool is_closed(const Fd& fd, double seconds) {
  const Deadline deadline = Deadline::after_seconds(seconds);
  char bytes[4096];
  for (;;) {
    pollfd polled{.fd = fd.get(), .events = POLLIN, .revents = 0};
    if (::poll(&polled, 1, std::max(0, static_cast<int>(deadline.seconds_left() * 1000))) == 0) return false;
    if (::recv(fd.get(), bytes, sizeof bytes, 0) <= 0) return true;
  }
}

LimitCount count_of(const RpcServer& server, const std::string& name) {
  for (const LimitCount& count : server.counters().limits) {
    if (count.name == name) return count;
  }
  ADD_FAILURE() << "no limit has the name " << name;
  return {};
}

// A stream that is opened with gRPC alone, without our channel's manners: it does not read unless it is told to.
class RawStream : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  RawStream(grpc::GenericStub& stub, const std::string& token) {
    if (!token.empty()) context_.AddMetadata(kTokenKey, token);
    stub.PrepareBidiStreamingCall(&context_, kCallName, {}, this);
    AddHold();
    StartCall();
  }
  ~RawStream() override {
    context_.TryCancel();
    RemoveHold();
    MutexLock lock(mutex_);
    done_changed_.wait(lock, [this]() ARGOSY_REQUIRES(mutex_) { return done_; });
  }

  // Sends a request, when the one before has left.
  void send(uint16_t method, uint64_t call) {
    {
      MutexLock lock(mutex_);
      done_changed_.wait_for(lock, std::chrono::duration<double>(kPatience),
                             [this]() ARGOSY_REQUIRES(mutex_) { return !writing_ || done_; });
      if (done_) return;
      writing_ = true;
      const grpc::Slice slice(frame_head({.kind = method, .call = call, .wait_us = 60'000'000}, "", 0));
      request_ = grpc::ByteBuffer(&slice, 1);
    }
    StartWrite(&request_);
  }

  void OnWriteDone(bool) override {
    MutexLock lock(mutex_);
    writing_ = false;
    done_changed_.notify_all();
  }
  void OnDone(const grpc::Status&) override {
    MutexLock lock(mutex_);
    done_ = true;
    done_changed_.notify_all();
  }

 private:
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  Mutex mutex_;
  ConditionVariable done_changed_;
  bool done_ ARGOSY_GUARDED_BY(mutex_) = false, writing_ = false;
};

grpc::GenericStub raw_stub(const RpcServer& server, const std::string& token) {
  grpc::ChannelArguments arguments;
  greet(arguments, token);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::GenericStub(
      grpc::CreateCustomChannel("dns:///" + server.endpoint(), grpc::InsecureChannelCredentials(), arguments));
}

template <typename Condition>
bool comes_true(const Condition& condition) {
  for (const Deadline deadline = soon(); !deadline.passed(); std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    if (condition()) return true;
  }
  return condition();
}

// A peer that opens a connection and says nothing must not keep it.
TEST(PortLimits, DropSilentConnections) {
  const auto server = start({.stranger_seconds = 0.5}, "secret");
  const Fd silent = connect_silently(*server);
  const auto channel = connect(*server, "secret");
  ASSERT_EQ(channel->wait_ready(soon()), Status::ok_status());
  EXPECT_TRUE(is_closed(silent, kPatience));
  // Who has shown the token stays, silent or not.
  EXPECT_TRUE(comes_true([&] { return count_of(*server, "connections").now == 1; }));
  EXPECT_EQ(count_of(*server, "strangers").now, 0u);
  EXPECT_TRUE(channel->call_and_wait({.method = 1}, soon()).ok());
}

// gRPC reads what it gets, and makes streams of it, before anybody can look at a token: it must get nothing.
TEST(PortLimits, CloseAtOnceWhoSaysAnythingButTheGreeting) {
  const auto server = start({.stranger_seconds = 1000}, "secret");
  const std::string http2 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", tls("\x16\x03\x01\x02\x00", 5);
  for (const std::string& said : {http2, tls, std::string("GET / HTTP/1.1\r\n\r\n"), std::string(5000, '\0')}) {
    EXPECT_TRUE(is_closed(connect_and_say(*server, said), kPatience)) << said;
  }
  EXPECT_TRUE(comes_true([&] { return count_of(*server, "strangers").refused == 4; }));
  EXPECT_EQ(server->counters().bytes_in, 0u);
  EXPECT_EQ(connect(*server, "secret")->wait_ready(soon()), Status::ok_status());
}

// Byte by byte, or with HTTP/2 behind it: what has the pass gets in, what says more than it may does not.
TEST(PortLimits, TakeAGreetingInPieces) {
  const auto server = start({.stranger_seconds = 1000}, "secret");
  const Fd slow = connect_silently(*server);
  for (const char c : greeting("secret")) ASSERT_EQ(::send(slow.get(), &c, 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(first_line(slow), "HTTP/1.1 200 OK");
  EXPECT_EQ(first_line(connect_and_say(*server, greeting("secret") + "PRI * HTTP/2.0")), "");
}

// HTTP/2 has frames that cost nothing to send and nothing that gRPC would mind. Nobody who belongs to the job sends many before
// a first request.
TEST(PortLimits, DropWhoSendsMuchAndAsksNothing) {
  const auto server = start({.stranger_seconds = 1000}, "secret");
  const Fd stranger = connect_and_say(*server, greeting("secret"));
  ASSERT_EQ(first_line(stranger), "HTTP/1.1 200 OK");
  std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string("\0\0\0\4\0\0\0\0\0", 9);
  for (int i = 0; i < 5000; ++i) bytes += std::string("\0\0\4\x8\0\0\0\0\0\0\0\0\1", 13);  // WINDOW_UPDATE by 1
  (void)!::send(stranger.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(is_closed(stranger, kPatience));
  EXPECT_EQ(count_of(*server, "strangers").refused, 1u);
  EXPECT_EQ(connect(*server, "secret")->wait_ready(soon()), Status::ok_status());
}

// Its address has used up what it may open; nothing that goes wrong at the threshold counts towards that.
TEST(PortLimits, LetNobodyInWhoComesAgainAndAgain) {
  const auto server = start({.connections = 64, .arrivals_per_second = 0.001}, "secret");
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(is_closed(connect_and_say(*server, "nonsense"), kPatience));
  const auto honest = connect(*server, "secret");
  ASSERT_EQ(honest->wait_ready(soon()), Status::ok_status());
  const auto answer_to_one_more = [&] { return first_line(connect_and_say(*server, greeting("secret"))); };
  EXPECT_TRUE(comes_true([&] { return answer_to_one_more() == kNoRoom.substr(0, kNoRoom.find('\r')); }));
  EXPECT_GE(count_of(*server, "connections").refused, 1u);
  EXPECT_TRUE(honest->call_and_wait({.method = 1}, soon()).ok());  // who is in stays
}

TEST(PortLimits, TellAndDropWhoHasAnotherToken) {
  const auto server = start({}, "secret");
  const auto channel = connect(*server, "guess");
  const Status status = channel->wait_ready(soon());
  EXPECT_EQ(status.code(), Code::unauthenticated);
  EXPECT_THAT(status.message(), HasSubstr("another job token"));
  EXPECT_TRUE(comes_true([&] { return count_of(*server, "strangers").refused == 1; }));
  EXPECT_TRUE(comes_true([&] { return count_of(*server, "connections").now == 0; }));
}

// The one that came first goes: a member of the job has shown it by then.
TEST(PortLimits, AlwaysLetANewStrangerShowWhoItIs) {
  const auto server = start({.strangers = 4, .stranger_seconds = 1000}, "secret");
  std::vector<Fd> silent;
  for (int i = 0; i < 10; ++i) silent.push_back(connect_silently(*server));
  const auto channel = connect(*server, "secret");
  ASSERT_EQ(channel->wait_ready(soon()), Status::ok_status());
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(is_closed(silent[static_cast<size_t>(i)], kPatience)) << i;
  EXPECT_FALSE(is_closed(silent.back(), 0.1));
  EXPECT_LE(count_of(*server, "strangers").now, 4u);
}

TEST(PortLimits, CloseConnectionsBeyondTheLimit) {
  const auto server = start({.connections = 2});
  auto first = connect(*server), second = connect(*server), third = connect(*server);
  ASSERT_EQ(first->wait_ready(soon()), Status::ok_status());
  ASSERT_EQ(second->wait_ready(soon()), Status::ok_status());
  EXPECT_EQ(third->wait_ready(Deadline::after_seconds(0.5)).code(), Code::unavailable);
  EXPECT_GE(count_of(*server, "connections").refused, 1u);
  first.reset();
  EXPECT_EQ(third->wait_ready(soon()), Status::ok_status());
}

// Streams cost tens of kilobytes each, before anybody has looked at their token.
TEST(PortLimits, HoldFewStreamsOfAConnectionWhateverItsToken) {
  for (const std::string token : {"secret", "guess"}) {
    const auto server = start({}, "secret");
    auto stub = raw_stub(*server, "secret");
    std::vector<std::unique_ptr<RawStream>> streams;
    for (int i = 0; i < 400; ++i) streams.push_back(std::make_unique<RawStream>(stub, token));
    const auto channel = connect(*server, "secret");
    ASSERT_EQ(channel->wait_ready(soon()), Status::ok_status());
    if (token == "secret") {
      EXPECT_TRUE(comes_true([&] { return count_of(*server, "streams").now == 17; }));
    }
    // Streams that are over for the caller may not be for the server yet.
    EXPECT_TRUE(comes_true([&] { return count_of(*server, "streams").now <= 17; })) << token;
  }
}

TEST(PortLimits, RefuseStreamsBeyondTheLimit) {
  const auto server = start({.streams = 1});
  const auto first = connect(*server), second = connect(*server);
  ASSERT_EQ(first->wait_ready(soon()), Status::ok_status());
  const Status status = second->wait_ready(soon());
  EXPECT_EQ(status.code(), Code::resource_exhausted);
  EXPECT_THAT(status.message(), HasSubstr("limit streams is reached: 1 at a time"));
}

// A caller that asks and does not take the answers gets errors when they have become too many.
TEST(PortLimits, BoundTheAnswersThatNobodyTakes) {
  constexpr int kThreads = 2;  // each of which may have found room for its answer when there was some for one
  const auto answer = [](Request, Reply reply) { reply.send("", {Slice::own(std::string(1 << 20, 'a'))}); };
  auto started = RpcServer::start(
      {.address = "127.0.0.1:0", .threads = kThreads, .unix_socket = false, .limits = {.reply_bytes = 8 << 20}}, answer);
  ASSERT_TRUE(started.ok()) << started.status().to_string();
  const std::unique_ptr<RpcServer> server = *std::move(started);
  auto stub = raw_stub(*server, "");
  RawStream greedy(stub, "");
  for (uint64_t i = 1; i <= 40; ++i) greedy.send(1, i);
  EXPECT_TRUE(comes_true([&] { return count_of(*server, "reply_limit").refused > 20; }));
  EXPECT_LE(count_of(*server, "reply_limit").now, (uint64_t{8 + kThreads} << 20) + (64 << 10));  // the errors are answers too
  const auto channel = connect(*server);  // others are not refused for it
  EXPECT_TRUE(channel->call_and_wait({.method = 1}, soon()).ok());
}

// Who has hundreds of calls on their way takes turns to be read from (read_turns.h), and gets every answer; one that waits for
// its answers is not held up meanwhile.
TEST(Turns, GiveEverybodyTheirAnswers) {
  constexpr int kCalls = 400;
  const auto server = start({});
  const auto greedy = connect(*server), also_greedy = connect(*server), patient = connect(*server);
  std::latch answered(2 * kCalls);
  for (int i = 0; i < kCalls; ++i) {
    for (const auto& channel : {greedy.get(), also_greedy.get()}) {
      channel->call({.method = 1}, soon(), [&](const Result<Received>& answer) {
        EXPECT_TRUE(answer.ok()) << answer.status().to_string();
        answered.count_down();
      });
    }
  }
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(patient->call_and_wait({.method = 1}, soon()).ok());
  answered.wait();
}

TEST(Lanes, DoNotWaitForEachOther) {
  std::latch gate(1);
  const auto lane = [](uint16_t method) { return method == 1 ? Lane::change : method == 2 ? Lane::read : Lane::urgent; };
  auto server = RpcServer::start({.address = "127.0.0.1:0", .threads = 2, .lane = lane}, [&](Request request, Reply reply) {
    if (request.method == 1) gate.wait();
    reply.send("");
  });
  ASSERT_TRUE(server.ok());
  const auto channel = connect(**server);
  std::latch stuck(8);
  for (int i = 0; i < 8; ++i) {
    channel->call({.method = 1}, soon(), [&](const Result<Received>& answer) {
      EXPECT_TRUE(answer.ok());
      stuck.count_down();
    });
  }
  EXPECT_TRUE(channel->call_and_wait({.method = 2}, soon()).ok());
  EXPECT_TRUE(channel->call_and_wait({.method = 3}, soon()).ok());
  EXPECT_EQ(channel->wait_ready(soon()), Status::ok_status());
  gate.count_down();
  stuck.wait();
}

TEST(Handlers, MayThrowAndTheServerGoesOn) {
  const auto server = start({}, "", [](Request request, Reply reply) {
    if (request.method == 1) throw std::bad_alloc();
    reply.send("");
  });
  const auto channel = connect(*server);
  EXPECT_EQ(channel->call_and_wait({.method = 1}, soon()).status().code(), Code::internal);
  EXPECT_TRUE(channel->call_and_wait({.method = 2}, soon()).ok());
}

}  // namespace
}  // namespace argosy::rpc
