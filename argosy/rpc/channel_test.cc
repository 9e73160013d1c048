// What every channel promises, over the wire and in the process alike.
#include "argosy/rpc/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <numeric>
#include <optional>

#include "argosy/base/check.h"
#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/rpc/in_process.h"
#include "argosy/rpc/rpc_server.h"

namespace argosy::rpc {
namespace {

using ::testing::HasSubstr;

enum Method : uint16_t { kEcho = 1, kFail = 2, kDrop = 3, kKeep = 4 };

Deadline soon() { return Deadline::after_seconds(60); }

std::string text_of(const PayloadBuffer& buffer) { return {reinterpret_cast<const char*>(buffer.data()), buffer.size()}; }

// Answers by method, and keeps the replies of kKeep. Thread-safe.
class TestHandler {
 public:
  void operator()(Request request, Reply reply) {
    switch (request.method) {
      case kEcho: return reply.send(request.header, {Slice::own(std::move(request.payload))});
      case kFail: return reply.fail(Status::aborted("{}", request.header));
      case kKeep: {
        MutexLock lock(mutex_);
        kept_.push_back(std::move(reply));
        arrived_.notify_all();
        return;
      }
      default: return;  // drops it
    }
  }

  bool has_kept() {
    MutexLock lock(mutex_);
    return !kept_.empty();
  }
  Reply take_kept() {
    MutexLock lock(mutex_);
    ARGOSY_CHECK(arrived_.wait_until(lock, soon().when(), [&]() ARGOSY_REQUIRES(mutex_) { return !kept_.empty(); }),
                 "no call came");
    Reply reply = std::move(kept_.front());
    kept_.erase(kept_.begin());
    return reply;
  }

 private:
  Mutex mutex_;
  ConditionVariable arrived_;
  std::vector<Reply> kept_;
};

enum class Transport { in_process, tcp, unix_socket };

class ChannelTest : public ::testing::TestWithParam<Transport> {
 protected:
  void SetUp() override {
    Handler handler = [this](Request request, Reply reply) { handler_(std::move(request), std::move(reply)); };
    if (GetParam() == Transport::in_process) {
      channel_ = connect_in_process(std::move(handler));
      return;
    }
    auto server = RpcServer::start({.address = "127.0.0.1:0"}, std::move(handler));
    ASSERT_TRUE(server.ok()) << server.status().to_string();
    server_ = std::move(*server);
    auto channel = connect_channel(server_->endpoint(), {.unix_socket = GetParam() == Transport::unix_socket});
    ASSERT_TRUE(channel.ok()) << channel.status().to_string();
    channel_ = std::move(*channel);
  }

  TestHandler handler_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<Channel> channel_;
};

std::string transport_name(const ::testing::TestParamInfo<Transport>& info) {
  switch (info.param) {
    case Transport::in_process: return "InProcess";
    case Transport::tcp: return "Tcp";
    default: return "UnixSocket";
  }
}

#if defined(__SANITIZE_THREAD__)
// gRPC's library is not built for ThreadSanitizer, which then sees races where its locks are.
constexpr auto kTransports = {Transport::in_process};
#else
constexpr auto kTransports = {Transport::in_process, Transport::tcp, Transport::unix_socket};
#endif
INSTANTIATE_TEST_SUITE_P(Transports, ChannelTest, ::testing::ValuesIn(kTransports), transport_name);

TEST_P(ChannelTest, IsReadyWhenItsPeerIs) { EXPECT_EQ(channel_->wait_ready(soon()), Status::ok_status()); }

TEST_P(ChannelTest, CarriesHeaderAndPayloadAndJoinsSlices) {
  const Message message{kEcho, "header", {Slice::own(std::string("one ")), Slice{}, Slice::own(std::string("two"))}};
  const auto answer = channel_->call_and_wait(message, soon());
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->method, kEcho);
  EXPECT_EQ(answer->header, "header");
  EXPECT_EQ(text_of(answer->payload), "one two");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(answer->payload.data()) % PayloadBuffer::kAlignment, 0u);
}

TEST_P(ChannelTest, CarriesEmptyMessages) {
  const auto answer = channel_->call_and_wait({.method = kEcho}, soon());
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_TRUE(answer->header.empty() && answer->payload.empty());
}

TEST_P(ChannelTest, CarriesSixtyFourMebibytesEachWay) {
  std::vector<uint32_t> values(16 << 20);
  std::iota(values.begin(), values.end(), 0u);
  const auto shared = std::make_shared<const std::vector<uint32_t>>(std::move(values));
  const auto answer = channel_->call_and_wait({kEcho, "", {Slice::of(std::span(*shared), shared)}}, soon());
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  const auto back = answer->payload.values<uint32_t>(0, shared->size());
  EXPECT_TRUE(std::equal(back.begin(), back.end(), shared->begin(), shared->end()));
}

// gRPC's own statuses are cut at a few kilobytes and escape what is not ASCII.
TEST_P(ChannelTest, CarriesErrorsAsTheyAre) {
  std::string message(50'000, 'm');
  message += "\n\t\x01 größer als 100 %";
  const auto answer = channel_->call_and_wait({kFail, message, {}}, soon());
  EXPECT_EQ(answer.status(), Status(Code::aborted, message));
}

TEST_P(ChannelTest, AnswersInternalWhereTheHandlerDropsTheReply) {
  const auto answer = channel_->call_and_wait({.method = kDrop}, soon());
  EXPECT_EQ(answer.status().code(), Code::internal);
}

TEST_P(ChannelTest, EndsACallAtItsDeadline) {
  // A call whose time is over before it could be sent is not sent: on a busy machine only a longer one comes to the handler.
  for (double seconds = 0.1; seconds < 20 && !handler_.has_kept(); seconds *= 5) {
    Stopwatch watch;
    const auto answer = channel_->call_and_wait({.method = kKeep}, Deadline::after_seconds(seconds));
    EXPECT_EQ(answer.status().code(), Code::deadline_exceeded);
    EXPECT_THAT(answer.status().message(), HasSubstr(channel_->peer()));
    EXPECT_GE(watch.seconds(), 0.99 * seconds);
    EXPECT_LT(watch.seconds(), seconds + 20);
  }

  Reply late = handler_.take_kept();
  for (const Deadline deadline = soon(); !late.cancelled() && !deadline.passed();) std::this_thread::yield();
  EXPECT_TRUE(late.cancelled());
  late.send("nobody reads this");
}

TEST_P(ChannelTest, RefusesADeadlineThatHasPassed) {
  const auto answer = channel_->call_and_wait({.method = kEcho}, Deadline::after_seconds(-1));
  EXPECT_EQ(answer.status().code(), Code::deadline_exceeded);
}

TEST_P(ChannelTest, GetsAnAnswerThatAnotherThreadGivesLater) {
  std::optional<Result<Received>> answer;
  std::latch done(1);
  channel_->call({.method = kKeep}, soon(), [&](Result<Received> result) {
    answer.emplace(std::move(result));
    done.count_down();
  });
  Reply kept = handler_.take_kept();
  EXPECT_FALSE(kept.cancelled());
  Thread later("later", [&] { kept.send("later"); });
  done.wait();
  ASSERT_TRUE(answer->ok()) << answer->status().to_string();
  EXPECT_EQ((*answer)->header, "later");
}

TEST_P(ChannelTest, CancelsCallsWhenItIsDestroyed) {
  std::atomic<int> cancelled = 0;
  for (int i = 0; i < 10; ++i) {
    channel_->call({.method = kKeep}, soon(),
                   [&](Result<Received> result) { cancelled += result.status().code() == Code::cancelled; });
  }
  Reply kept = handler_.take_kept();
  channel_.reset();
  EXPECT_EQ(cancelled, 10);
  kept.send("nobody reads this");
}

TEST_P(ChannelTest, ServesManyThreadsAtOnce) {
  constexpr int kThreads = 8, kCalls = 100;
  std::atomic<int> right = 0;
  {
    std::vector<Thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back("caller", [&, t] {
        for (int i = 0; i < kCalls; ++i) {
          const std::string header = fmt::format("{} {}", t, i);
          const std::string payload(static_cast<size_t>(i) * 37, static_cast<char>('a' + t));
          const auto answer = channel_->call_and_wait({kEcho, header, {Slice::own(payload)}}, soon());
          right += answer.ok() && answer->header == header && text_of(answer->payload) == payload;
        }
      });
    }
  }
  EXPECT_EQ(right, kThreads * kCalls);
}

// Held replies must not hold threads: more calls wait than the server has threads.
TEST_P(ChannelTest, AnswersOthersWhileManyCallsAreHeld) {
  constexpr int kHeld = 40;
  std::latch done(kHeld);
  for (int i = 0; i < kHeld; ++i) {
    channel_->call({.method = kKeep}, soon(), [&](Result<Received>) { done.count_down(); });
  }
  EXPECT_TRUE(channel_->call_and_wait({.method = kEcho}, soon()).ok());
  for (int i = 0; i < kHeld; ++i) handler_.take_kept().send("");
  done.wait();
}

// A slice's memory is given back when nothing reads it any more, and not before.
TEST_P(ChannelTest, ReleasesSlices) {
  auto memory = std::make_shared<const std::string>(100'000, 'x');
  std::weak_ptr<const std::string> watched = memory;
  Message message{kEcho, "", {Slice{memory->data(), memory->size(), std::move(memory)}}};
  memory.reset();
  ASSERT_TRUE(channel_->call_and_wait(std::move(message), soon()).ok());
  for (const Deadline deadline = soon(); !watched.expired() && !deadline.passed();) std::this_thread::yield();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace argosy::rpc
