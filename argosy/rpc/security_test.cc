// Who gets in: TLS, mutual TLS, the job's token, the protocol's version, and bytes that are no message at all.
#include "argosy/rpc/security.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <latch>

#include "argosy/base/file.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/door_greeting.h"
#include "argosy/rpc/grpc_settings.h"
#include "argosy/rpc/rpc_server.h"
#include "argosy/rpc/wire_frame.h"
#include "argosy/testing/certificates.h"
#include "argosy/testing/temporary_folder.h"

namespace argosy::rpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Deadline soon() { return Deadline::after_seconds(20); }
Deadline very_soon() { return Deadline::after_seconds(0.5); }

void answer_nothing(Request, Reply reply) { reply.send(""); }

std::unique_ptr<RpcServer> start(const Security& security) {
  auto server = RpcServer::start({.address = "127.0.0.1:0", .security = security}, answer_nothing);
  EXPECT_TRUE(server.ok()) << server.status().to_string();
  return std::move(*server);
}

Status try_to_call(const RpcServer& server, const Security& security, Deadline deadline) {
  auto channel = connect_channel(server.endpoint(), {.security = security});
  if (!channel.ok()) return channel.status();
  RETURN_IF_ERROR((*channel)->wait_ready(deadline));
  return (*channel)->call_and_wait({.method = 1}, soon()).status();
}

class TlsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new testing::TemporaryFolder;
    for (const auto& [name, to] : {std::pair{"job", &job_}, std::pair{"stranger", &stranger_}}) {
      auto made = testing::make_certificates(folder_->path(), name);
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      *to = new Security(*made);
    }
  }
  static void TearDownTestSuite() {
    delete folder_;
    delete job_;
    delete stranger_;
  }

  static Security server_only() { return {.certificate = job_->certificate, .key = job_->key}; }
  static Security authority_only() { return {.ca = job_->ca}; }

  inline static testing::TemporaryFolder* folder_ = nullptr;
  inline static Security *job_ = nullptr, *stranger_ = nullptr;
};

TEST_F(TlsTest, LetsAClientInThatKnowsTheAuthority) {
  const auto server = start(server_only());
  EXPECT_EQ(try_to_call(*server, authority_only(), soon()), Status::ok_status());
}

TEST_F(TlsTest, MutualLetsAClientInThatHasACertificate) {
  const auto server = start(*job_);
  EXPECT_EQ(try_to_call(*server, *job_, soon()), Status::ok_status());
}

TEST_F(TlsTest, MutualRefusesAClientWithoutOne) {
  const auto server = start(*job_);
  const Status status = try_to_call(*server, authority_only(), very_soon());
  EXPECT_EQ(status.code(), Code::unavailable);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("TLS"), HasSubstr(server->endpoint())));
  EXPECT_EQ(server->counters().calls, 0u);
}

TEST_F(TlsTest, MutualRefusesAStranger) {
  const auto server = start(*job_);
  Security stranger = *stranger_;
  stranger.ca = job_->ca;
  EXPECT_EQ(try_to_call(*server, stranger, very_soon()).code(), Code::unavailable);
  EXPECT_EQ(server->counters().calls, 0u);
}

TEST_F(TlsTest, AClientRefusesAStrangersServer) {
  const auto server = start(*stranger_);
  const Status status = try_to_call(*server, *job_, soon());
  EXPECT_EQ(status.code(), Code::unauthenticated);  // at once: it is no server that may still come
  EXPECT_THAT(status.message(), AllOf(HasSubstr(job_->ca), HasSubstr(server->endpoint())));
}

TEST_F(TlsTest, OnOneSideOnlyIsNamedAsThePossibleCause) {
  const auto with = start(server_only());
  EXPECT_THAT(try_to_call(*with, {}, very_soon()).message(), HasSubstr("If it uses TLS, this side needs TLS too"));
  const auto without = start({});
  EXPECT_THAT(try_to_call(*without, *job_, very_soon()).message(), HasSubstr("This side uses TLS"));
}

TEST_F(TlsTest, WorksTogetherWithAToken) {
  Security security = *job_;
  security.token = "secret-of-the-job";
  const auto server = start(security);
  EXPECT_EQ(try_to_call(*server, security, soon()), Status::ok_status());
  EXPECT_EQ(try_to_call(*server, *job_, soon()).code(), Code::unauthenticated);
}

TEST_F(TlsTest, NamesFilesAndFieldsThatAreWrong) {
  const auto error = [](const Security& security) {
    return RpcServer::start({.address = "127.0.0.1:0", .security = security}, answer_nothing).status().message();
  };
  EXPECT_THAT(error({.certificate = "/no/such.pem", .key = job_->key}), HasSubstr("/no/such.pem"));
  EXPECT_THAT(error({.certificate = job_->certificate}), HasSubstr("without its key"));
  EXPECT_THAT(error({.key = job_->key}), HasSubstr("without its certificate"));
  EXPECT_THAT(error({.ca = job_->ca}), HasSubstr("certificate and key"));
  const std::string text = folder_->file("text.pem");
  ASSERT_EQ(write_file_atomically(text, "hello"), Status::ok_status());
  EXPECT_THAT(error({.certificate = text, .key = text}), HasSubstr("no PEM text"));
  EXPECT_THAT(connect_channel("127.0.0.1:1", {.security = {.ca = "/no/such.pem"}}).status().message(), HasSubstr("/no/such.pem"));
}

TEST(Token, LetsTheJobIn) {
  const auto server = start({.token = "secret-of-the-job"});
  EXPECT_EQ(try_to_call(*server, {.token = "secret-of-the-job"}, soon()), Status::ok_status());
}

TEST(Token, RefusesOthersWithoutTellingIt) {
  const auto server = start({.token = "secret-of-the-job"});
  for (const char* wrong : {"", "secret-of-the-jo", "secret-of-the-job2", "another-secret"}) {
    const Status status = try_to_call(*server, {.token = wrong}, soon());
    EXPECT_EQ(status.code(), Code::unauthenticated) << status.to_string();
    EXPECT_THAT(status.message(), AllOf(HasSubstr(server->endpoint()), HasSubstr("token"), Not(HasSubstr("secret"))));
  }
  EXPECT_EQ(server->counters().calls, 0u);
  EXPECT_GE(server->counters().refused, 4u);
}

// By TCP: at the door already, before gRPC has read anything.
TEST(Token, RefusesOthersAtTheDoor) {
  const auto server = start({.token = "secret-of-the-job"});
  for (const char* wrong : {"", "another-secret"}) {
    const auto channel = connect_channel(server->endpoint(), {.security = {.token = wrong}, .unix_socket = false});
    const Status status = (*channel)->wait_ready(soon());
    EXPECT_EQ(status.code(), Code::unauthenticated) << status.to_string();
    EXPECT_THAT(status.message(), AllOf(HasSubstr(server->endpoint()), HasSubstr("token"), Not(HasSubstr("secret"))));
  }
  EXPECT_EQ(server->counters().refused, 2u);
  const auto channel = connect_channel(server->endpoint(), {.security = {.token = "secret-of-the-job"}, .unix_socket = false});
  EXPECT_EQ((*channel)->wait_ready(soon()), Status::ok_status());
}

TEST(Token, MayHaveAnyBytes) {
  const std::string token("\0\xff\n secret", 10);
  const auto server = start({.token = token});
  EXPECT_EQ(try_to_call(*server, {.token = token}, soon()), Status::ok_status());
}

// Sends bytes over a stream as any program could, and gives the status that the server ends it with.
grpc::Status send_raw(const RpcServer& server, const std::string& bytes) {
  struct RawStream : grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
    void OnDone(const grpc::Status& status) override {
      ended = status;
      done.count_down();
    }
    grpc::ClientContext context;
    grpc::ByteBuffer out, in;
    grpc::Status ended;
    std::latch done{1};
  } stream;
  grpc::ChannelArguments arguments;
  greet(arguments, "");
  grpc::GenericStub stub(grpc::CreateCustomChannel(server.endpoint(), grpc::InsecureChannelCredentials(), arguments));
  const grpc::Slice slice(bytes);
  stream.out = grpc::ByteBuffer(&slice, 1);
  stream.context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  stub.PrepareBidiStreamingCall(&stream.context, kCallName, {}, &stream);
  stream.StartRead(&stream.in);
  stream.StartWrite(&stream.out);
  stream.StartCall();
  stream.done.wait();
  return stream.ended;
}

TEST(Version, OfAnotherReleaseIsRefusedWithBothNamed) {
  const auto server = start({});
  const grpc::Status status = send_raw(*server, frame_head({.kind = 1, .call = 1}, "", 0, 42));
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), AllOf(HasSubstr("version 42"), HasSubstr(fmt::format("version {}", kProtocolVersion))));
  EXPECT_EQ(server->counters().calls, 0u);
}

TEST(Hostile, BytesEndTheirOwnStreamOnly) {
  const auto server = start({});
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string(10'000, '\xff'), frame_head({1, 1}, "h", 1 << 20)}) {
    EXPECT_EQ(send_raw(*server, bytes).error_code(), grpc::INVALID_ARGUMENT);
  }
  EXPECT_EQ(server->counters().refused, 4u);
  EXPECT_EQ(try_to_call(*server, {}, soon()), Status::ok_status());
}

}  // namespace
}  // namespace argosy::rpc
