// The wire alone: a server that drops what it gets, over TCP and over the Unix socket.
#include <benchmark/benchmark.h>

#include <memory>
#include <semaphore>
#include <string>

#include "argosy/base/check.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/rpc_server.h"

namespace argosy::rpc {
namespace {

Deadline soon() { return Deadline::after_seconds(20); }

struct Wire {
  explicit Wire(bool unix_socket) {
    auto started = RpcServer::start({.address = "127.0.0.1:0"}, [](Request, Reply reply) { reply.send(""); });
    ARGOSY_CHECK(started.ok(), started.status().message());
    server = std::move(*started);
    auto connected = connect_channel(server->endpoint(), {.unix_socket = unix_socket});
    ARGOSY_CHECK(connected.ok() && (*connected)->wait_ready(soon()).ok(), "the server cannot be reached");
    channel = std::move(*connected);
  }

  std::unique_ptr<RpcServer> server;
  std::unique_ptr<Channel> channel;
};

Message message_of(size_t bytes) { return {1, "", {Slice::own(std::string(bytes, 'x'))}}; }

void call_one_by_one(benchmark::State& state, bool unix_socket, size_t bytes) {
  const Wire wire(unix_socket);
  const Message message = message_of(bytes);
  for (auto _ : state) {
    if (!wire.channel->call_and_wait(message, soon()).ok()) state.SkipWithError("a call failed");
  }
}

// An empty call and its empty answer.
void BM_Ping(benchmark::State& state, bool unix_socket) { call_one_by_one(state, unix_socket, 0); }

// The gradients of 26,000 rows of 10 floats and their keys, acknowledged.
void BM_Push(benchmark::State& state, bool unix_socket) { call_one_by_one(state, unix_socket, 1'250'000); }

// Slices of 1 MiB, four on their way.
void BM_Wire(benchmark::State& state, bool unix_socket) {
  constexpr size_t kSlice = 1 << 20;
  constexpr int kUnderWay = 4;
  const Wire wire(unix_socket);
  const Message message = message_of(kSlice);
  std::counting_semaphore<kUnderWay> room(kUnderWay);
  for (auto _ : state) {
    room.acquire();
    wire.channel->call(message, soon(), [&](Result<Received> answer) {
      ARGOSY_CHECK(answer.ok(), answer.status().message());
      room.release();
    });
  }
  for (int i = 0; i < kUnderWay; ++i) room.acquire();
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kSlice));
}

BENCHMARK_CAPTURE(BM_Ping, tcp, false)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Ping, unix_socket, true)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Push, tcp, false)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Push, unix_socket, true)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Wire, tcp, false)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_Wire, unix_socket, true)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace argosy::rpc
