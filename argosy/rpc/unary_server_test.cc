// What a caller with any gRPC library meets: answers, statuses, limits, and a server that stops.
#include "argosy/rpc/unary_server.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>

namespace argosy::rpc {
namespace {

using ::testing::HasSubstr;

constexpr double kSoon = 20;

Result<std::string> echo(UnaryRequest request) { return "got " + request.bytes; }

std::unique_ptr<UnaryServer> start(UnaryMethods methods, UnaryServerOptions options = {}) {
  options.address = "127.0.0.1:0";
  auto server = UnaryServer::start(options, std::move(methods));
  EXPECT_TRUE(server.ok()) << server.status().to_string();
  return std::move(*server);
}

grpc::ByteBuffer bytes_of(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

std::string text_of(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  std::string text;
  if (!bytes.Valid() || !bytes.Dump(&slices).ok()) return text;
  for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

// Calls as a client of another program would.
class Caller {
 public:
  explicit Caller(const UnaryServer& server)
      : stub_(grpc::CreateChannel(fmt::format("127.0.0.1:{}", server.port()), grpc::InsecureChannelCredentials())) {}

  Result<std::string> call(const std::string& path, const std::string& text, double seconds = kSoon) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000)));
    grpc::ByteBuffer request = bytes_of(text), answer;
    std::promise<grpc::Status> ended;
    stub_.UnaryCall(&context, path, {}, &request, &answer, [&ended](grpc::Status status) { ended.set_value(std::move(status)); });
    const grpc::Status status = ended.get_future().get();  // by the deadline
    if (!status.ok()) return Status(static_cast<Code>(status.error_code()), status.error_message());
    return text_of(answer);
  }

 private:
  grpc::GenericStub stub_;
};

TEST(UnaryServer, AnswersAnyGrpcClient) {
  const auto server = start({{"/a.B/Echo", {.handler = echo}}});
  Caller caller(*server);
  EXPECT_EQ(*caller.call("/a.B/Echo", "this"), "got this");
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(*caller.call("/a.B/Echo", large), "got " + large);
  EXPECT_EQ(*caller.call("/a.B/Echo", ""), "got ");
}

TEST(UnaryServer, ErrorsAndExceptionsAreStatuses) {
  const auto server =
      start({{"/a.B/Fail", {.handler = [](UnaryRequest) { return Status::not_found("no row 7"); }}},
             {"/a.B/Throw", {.handler = [](UnaryRequest) -> Result<std::string> { throw std::runtime_error("oh"); }}}});
  Caller caller(*server);
  EXPECT_EQ(caller.call("/a.B/Fail", "").status(), Status::not_found("no row 7"));
  EXPECT_EQ(caller.call("/a.B/Throw", "").status(), Status::internal("oh"));
  const Status unknown = caller.call("/a.B/Other", "").status();
  EXPECT_EQ(unknown.code(), Code::unimplemented);
  EXPECT_THAT(unknown.message(), HasSubstr("no method '/a.B/Other' here; there are /a.B/Fail, /a.B/Throw"));
}

TEST(UnaryServer, RefusesRequestsThatAreTooLarge) {
  const auto server = start({{"/a.B/Echo", {.handler = echo}}}, {.max_request_bytes = 1000});
  Caller caller(*server);
  EXPECT_EQ(caller.call("/a.B/Echo", std::string(2000, 'x')).status().code(), Code::resource_exhausted);
  EXPECT_EQ(*caller.call("/a.B/Echo", "small"), "got small");
}

TEST(UnaryServer, TellsTheHandlerHowLongTheCallerWaits) {
  std::optional<std::chrono::nanoseconds> wait;
  const auto server = start({{"/a.B/Ask", {.handler = [&wait](UnaryRequest request) -> Result<std::string> {
                                wait = request.wait;
                                return std::string();
                              }}}});
  EXPECT_TRUE(Caller(*server).call("/a.B/Ask", "", kSoon).ok());
  ASSERT_TRUE(wait.has_value());
  EXPECT_GT(*wait, std::chrono::seconds(1));
  EXPECT_LT(*wait, std::chrono::seconds(21)) << "gRPC sends a time-out of three digits, rounded up";
}

// A method that holds its call until it is let go.
struct Gate {
  UnaryMethod method() {
    return {.handler = [this](UnaryRequest) -> Result<std::string> {
      reached.count_down();
      return open.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready ? std::string("done")
                                                                                               : std::string("timed out");
    }};
  }
  std::latch reached{1};
  std::promise<void> open;
};

// One caller more than may be is told which limit it is; health checks go on while all threads are taken.
TEST(UnaryServer, LimitsCallsButNotUrgentOnes) {
  Gate gate;
  const auto server =
      start({{"/a.B/Wait", gate.method()}, {"/a.B/Echo", {.handler = echo}}, {"/a.B/Health", {.handler = echo, .urgent = true}}},
            {.max_calls = 1, .calls_limit = "max_connections"});
  Caller caller(*server);
  auto held = std::async(std::launch::async, [&] { return *caller.call("/a.B/Wait", ""); });
  gate.reached.wait();
  const Status refused = caller.call("/a.B/Echo", "").status();
  EXPECT_EQ(refused.code(), Code::unavailable);
  EXPECT_THAT(refused.message(), HasSubstr("1 calls are under way already (max_connections)"));
  EXPECT_EQ(*caller.call("/a.B/Health", "?"), "got ?");
  gate.open.set_value();
  EXPECT_EQ(held.get(), "done");
  // Its place is free once gRPC has let go of it, which is a moment after the answer.
  const Deadline free = Deadline::after_seconds(kSoon);
  auto next = caller.call("/a.B/Echo", "on");
  while (!next.ok() && !free.passed()) next = caller.call("/a.B/Echo", "on");
  EXPECT_EQ(*next, "got on");
}

TEST(UnaryServer, StoppingAnswersWhatHasBegun) {
  Gate gate;
  const auto server = start({{"/a.B/Wait", gate.method()}});
  Caller caller(*server);
  auto held = std::async(std::launch::async, [&] { return *caller.call("/a.B/Wait", ""); });
  gate.reached.wait();
  auto stopped = std::async(std::launch::async, [&] { server->stop(Deadline::after_seconds(kSoon)); });
  EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  gate.open.set_value();
  EXPECT_EQ(held.get(), "done");
  stopped.get();
  EXPECT_EQ(caller.call("/a.B/Wait", "", 0.5).ok(), false);
  server->stop(Deadline::after_seconds(1));
}

// A caller that opens a call and sends nothing would keep one of the places for ever.
TEST(UnaryServer, ACallThatSendsNoRequestEnds) {
  const auto server = start({{"/a.B/Echo", {.handler = echo}}}, {.read_time = std::chrono::milliseconds(50)});
  grpc::GenericStub stub(grpc::CreateChannel(fmt::format("127.0.0.1:{}", server->port()), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  struct Silent : grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
    void OnDone(const grpc::Status& status) override { ended.set_value(status); }
    std::promise<grpc::Status> ended;
  } silent;
  stub.PrepareBidiStreamingCall(&context, "/a.B/Echo", {}, &silent);
  silent.StartCall();
  const grpc::Status status = silent.ended.get_future().get();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(status.error_message(), "the request did not arrive in 50 ms");
}

TEST(UnaryServer, APortThatIsTakenIsToldByItsAddress) {
  const auto server = start({{"/a.B/Echo", {.handler = echo}}});
  const std::string address = fmt::format("127.0.0.1:{}", server->port());
  const auto second = UnaryServer::start({.address = address}, {});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr("cannot listen at " + address));
}

}  // namespace
}  // namespace argosy::rpc
