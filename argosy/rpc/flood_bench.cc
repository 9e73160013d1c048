// What a caller's calls take while somebody floods the port from half of a core, with the job's token and without. Each row has
// the times of its calls before the flood and during it, in turns.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/server.h"
#include "argosy/testing/flooder.h"

namespace argosy::rpc {
namespace {

using testing::Flooder;
using testing::FloodKind;

constexpr int kTurns = 5;
constexpr double kTurnSeconds = 1;
constexpr size_t kPushBytes = 100'000;  // and an answer as large: a batch of an ordinary model

Deadline soon() { return Deadline::after_seconds(20); }

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
  auto server = Server::start({.address = "127.0.0.1:0", .security = {.token = "secret"}}, [](Request request, Reply reply) {
    reply.send("", {Slice::own(std::string(request.payload.size(), 'y'))});
  });
  ARGOSY_CHECK(server.ok(), server.status().message());
  auto channel = connect_channel((*server)->endpoint(), {.security = {.token = "secret"}, .unix_socket = false});
  ARGOSY_CHECK(channel.ok() && (*channel)->wait_ready(soon()).ok(), "the server cannot be reached");
  std::vector<double> before, during;
  for (auto _ : state) {
    for (int turn = 0; turn < kTurns; ++turn) {
      call_for_a_turn(**channel, before);
      const Flooder flooder((*server)->port(), {.kind = kind, .token = token, .connections = 8});
      call_for_a_turn(**channel, during);
    }
  }
  state.counters["p50_before"] = percentile(before, 50);
  state.counters["p50_during"] = percentile(during, 50);
  state.counters["p99_before"] = percentile(before, 99);
  state.counters["p99_during"] = percentile(during, 99);
}

const bool registered = [] {
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
