// Whether our own way of many calls over one gRPC stream is worth its code: the same messages as generic unary calls of gRPC's
// callback API, which number, match and time calls out by themselves. Both copy a request once, into its aligned buffer, and run
// a handler on a pool's thread.
#include <benchmark/benchmark.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <semaphore>
#include <string>

#include "argosy/base/check.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/grpc_bytes.h"
#include "argosy/rpc/grpc_settings.h"
#include "argosy/rpc/rpc_server.h"
#include "argosy/rpc/wire_frame.h"
#include "argosy/rpc/work_pool.h"

namespace argosy::rpc {
namespace {

constexpr size_t kPush = 1'250'000;  // the gradients of 26,000 rows of 10 floats and their keys; a small answer
constexpr size_t kPull = 4'000;      // the rows of a small question
constexpr size_t kQuestion = 800;

Deadline soon() { return Deadline::after_seconds(20); }

std::vector<Slice> answer_to(uint16_t method) {
  static const auto rows = std::make_shared<const std::string>(kPull, 'y');
  return method == 1 ? std::vector<Slice>{} : std::vector<Slice>{{rows->data(), rows->size(), rows}};
}

// ---- Unary calls.

class UnaryCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit UnaryCall(WorkPool& pool) : pool_(pool) { StartRead(&bytes_); }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    pool_.add(reinterpret_cast<uintptr_t>(this), [this] { answer(); });
  }
  void OnDone() override { delete this; }

 private:
  void answer() {
    auto frame = decode_frame(bytes_);
    ARGOSY_CHECK(frame.ok(), frame.status().message());
    bytes_ = to_byte_buffer({.kind = 0, .call = frame->info.call}, "", answer_to(frame->info.kind));
    StartWriteAndFinish(&bytes_, {}, grpc::Status::OK);
  }

  WorkPool& pool_;
  grpc::ByteBuffer bytes_;
};

class UnaryService final : public grpc::CallbackGenericService {
 public:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override { return new UnaryCall(pool_); }

 private:
  WorkPool pool_{"rpc-handler", 2};
};

class UnaryWire {
 public:
  UnaryWire() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.SetMaxReceiveMessageSize(kLargestFrame);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttpFrameBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindowBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, kFirstReadBytes);
    builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kLargestReadChunkBytes);
    builder.RegisterCallbackGenericService(&service_);
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kLargestFrame);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttpFrameBytes);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindowBytes);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadChunkBytes);
    arguments.SetInt(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kLargestReadChunkBytes);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    stub_ = std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel(fmt::format("127.0.0.1:{}", port), grpc::InsecureChannelCredentials(), arguments));
  }

  void call(const Message& message, const std::function<void()>& done) {
    struct Call {
      grpc::ClientContext context;
      grpc::ByteBuffer request, answer;
    };
    auto call = std::make_shared<Call>();
    call->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    call->request = to_byte_buffer({message.method, 1, 20'000'000}, message.header, message.payload);
    stub_->UnaryCall(&call->context, kCallName, {}, &call->request, &call->answer, [call, done](const grpc::Status& status) {
      ARGOSY_CHECK(status.ok(), status.error_message());
      ARGOSY_CHECK(decode_frame(call->answer).ok(), "no answer");
      done();
    });
  }

 private:
  UnaryService service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::GenericStub> stub_;
};

// ---- Our stream.

class StreamWire {
 public:
  StreamWire() {
    auto started = RpcServer::start({.address = "127.0.0.1:0", .threads = 2},
                                    [](Request request, Reply reply) { reply.send("", answer_to(request.method)); });
    ARGOSY_CHECK(started.ok(), started.status().message());
    server_ = std::move(*started);
    auto connected = connect_channel(server_->endpoint(), {.unix_socket = false});
    ARGOSY_CHECK(connected.ok() && (*connected)->wait_ready(soon()).ok(), "the server cannot be reached");
    channel_ = std::move(*connected);
  }

  void call(const Message& message, const std::function<void()>& done) {
    channel_->call(message, soon(), [done](const Result<Received>& answer) {
      ARGOSY_CHECK(answer.ok(), answer.status().message());
      done();
    });
  }

 private:
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<Channel> channel_;
};

// As many callers as the argument says, each with one call on its way at a time.
template <typename Wire>
void call_all_the_time(benchmark::State& state, uint16_t method, size_t bytes) {
  Wire wire;
  const Message message{method, "", {Slice::own(std::string(bytes, 'x'))}};
  const auto callers = static_cast<int>(state.range(0));
  std::counting_semaphore<64> idle(callers);
  for (auto _ : state) {
    idle.acquire();
    wire.call(message, [&] { idle.release(); });
  }
  for (int i = 0; i < callers; ++i) idle.acquire();
  state.SetItemsProcessed(state.iterations());
}

void BM_StreamPush(benchmark::State& state) { call_all_the_time<StreamWire>(state, 1, kPush); }
void BM_UnaryPush(benchmark::State& state) { call_all_the_time<UnaryWire>(state, 1, kPush); }
void BM_StreamPull(benchmark::State& state) { call_all_the_time<StreamWire>(state, 2, kQuestion); }
void BM_UnaryPull(benchmark::State& state) { call_all_the_time<UnaryWire>(state, 2, kQuestion); }

BENCHMARK(BM_StreamPush)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_UnaryPush)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_StreamPull)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_UnaryPull)->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->MeasureProcessCPUTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace argosy::rpc
