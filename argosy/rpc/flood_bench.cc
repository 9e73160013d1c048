// What a caller's calls take while a flooder that has half of a core, and gives way to everybody else on it, floods the port,
// with the job's token and without. Each row has the times of its calls before the flood and during it, in turns. The server is a
// process of its own: within one process gRPC serves clients and servers with the same threads.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/base/child_process.h"
#include "argosy/base/fd.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/rpc_server.h"
#include "argosy/testing/flooder.h"

namespace argosy::rpc {
namespace {

using testing::Flooder;
using testing::FloodKind;

constexpr int kTurns = 20;
constexpr double kTurnSeconds = 0.25;
constexpr size_t kPushBytes = 100'000;  // and an answer as large: a batch of an ordinary model

constexpr const char* kServerVariable = "FLOOD_BENCH_SERVER";  // set in the server's process
constexpr int kLongestRunMs = 600'000;

Deadline soon() { return Deadline::after_seconds(20); }

// What the server's process runs: says its port, and serves until the other end is closed.
void serve(benchmark::State& state, int control) {
  const RpcServerOptions options{.address = "127.0.0.1:0", .security = {.token = "secret"}, .unix_socket = false};
  auto server = RpcServer::start(
      options, [](Request request, Reply reply) { reply.send("", {Slice::own(std::string(request.payload.size(), 'y'))}); });
  ARGOSY_CHECK(server.ok(), server.status().message());
  const int port = (*server)->port();
  ARGOSY_CHECK(::send(control, &port, sizeof port, MSG_NOSIGNAL) == sizeof port, "nobody asks for the port");
  pollfd closed{.fd = control, .events = POLLIN, .revents = 0};
  for (auto _ : state) ::poll(&closed, 1, kLongestRunMs);
}

// A server with the token "secret", in a process of its own.
class ServerProcess {
 public:
  ServerProcess() {
    int ends[2];
    ARGOSY_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "no socket pair");
    control_ = Fd(ends[0]);
    const Fd other(ends[1]);
    const Fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    auto started = ChildProcess::start({.command = {"/proc/self/exe", "--benchmark_filter=FloodServer"},
                                        .environment = {{std::string(kServerVariable) + "=1"}},
                                        .input = other.get(),
                                        .output = nowhere.get()});
    ARGOSY_CHECK(started.ok(), started.status().message());
    child_.emplace(std::move(*started));
    pollfd readable{.fd = control_.get(), .events = POLLIN, .revents = 0};
    ARGOSY_CHECK(::poll(&readable, 1, 20'000) == 1, "the server does not say its port");
    ARGOSY_CHECK(::recv(control_.get(), &port_, sizeof port_, 0) == sizeof port_, "the server has ended");
  }
  ServerProcess(const ServerProcess&) = delete;
  int port() const { return port_; }
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  Fd control_;
  std::optional<ChildProcess> child_;
  int port_ = 0;
};

// Milliseconds of calls, one after the other, for a turn.
void call_for_a_turn(Channel& channel, std::vector<double>& times) {
  const Message message{1, "", {Slice::own(std::string(kPushBytes, 'x'))}};
  for (const Stopwatch turn; turn.seconds() < kTurnSeconds;) {
    const Stopwatch one;
    const auto answer = channel.call_and_wait(message, soon());
    ARGOSY_CHECK(answer.ok(), answer.status().message());
    times.push_back(one.seconds() * 1000);
  }
}

double percentile(std::vector<double>& times, size_t percent) {
  std::ranges::sort(times);
  return times[times.size() * percent / 100];
}

void BM_Flood(benchmark::State& state, FloodKind kind, std::string token) {
  const ServerProcess server;
  auto channel = connect_channel(server.endpoint(), {.security = {.token = "secret"}, .unix_socket = false});
  ARGOSY_CHECK(channel.ok() && (*channel)->wait_ready(soon()).ok(), "the server cannot be reached");
  std::vector<double> before, during;
  double megabytes = 0;
  for (auto _ : state) {
    for (int turn = 0; turn < kTurns; ++turn) {
      call_for_a_turn(**channel, before);
      const Flooder flooder(server.port(), {.kind = kind, .token = token, .connections = 8, .elsewhere = true});
      call_for_a_turn(**channel, during);
      megabytes += static_cast<double>(flooder.bytes_sent()) / 1e6;
    }
  }
  state.counters["flood_mb_per_s"] = megabytes / (kTurns * kTurnSeconds);
  state.counters["p50_before"] = percentile(before, 50);
  state.counters["p50_during"] = percentile(during, 50);
  state.counters["p99_before"] = percentile(before, 99);
  state.counters["p99_during"] = percentile(during, 99);
  state.counters["most_before"] = before.back();
  state.counters["most_during"] = during.back();
}

const bool registered = [] {
  if (std::getenv(kServerVariable) != nullptr) {
    benchmark::RegisterBenchmark("FloodServer", serve, STDIN_FILENO)->Iterations(1);
    return true;
  }
  for (const FloodKind kind : testing::all_flood_kinds()) {
    for (const std::string token : {"", "secret"}) {
      const std::string name = std::string("Flood/") + name_of(kind) + (token.empty() ? "/no_token" : "/token");
      benchmark::RegisterBenchmark(name.c_str(), BM_Flood, kind, token)->Iterations(1)->UseRealTime();
    }
  }
  return true;
}();

}  // namespace
}  // namespace argosy::rpc
