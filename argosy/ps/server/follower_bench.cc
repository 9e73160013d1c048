// From the answer to a push to the first read of it from a follower, both over TCP: 26,000 rows of width 10 by Adagrad, with a
// log. Of interest are the counters.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>

#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;

constexpr size_t kFreshRows = 26'000, kFreshWidth = 10;

std::shared_ptr<Link> link_to(const Server& server) {
  auto link = std::make_shared<Link>();
  link->channel = std::move(*rpc::connect_channel(server.endpoint(), {}));
  return link;
}

std::unique_ptr<Server> started(const ServerOptions& options) {
  auto server = Server::start(options);
  ARGOSY_CHECK(server.ok(), server.status().message());
  return std::move(*server);
}

// One row in which every push adds 1, among others that it moves too.
Rows fresh_rows() {
  Rows rows;
  rows.keys.resize(kFreshRows);
  std::iota(rows.keys.begin(), rows.keys.end(), uint64_t{0});
  rows.values.assign(kFreshRows * kFreshWidth, -1);
  return rows;
}

void BM_PushToFollower(benchmark::State& state) {
  Folder folder;
  ServerOptions options = InProcess::options();
  options.address = "127.0.0.1:0";
  options.directory = folder.path() / "server";
  const auto primary = started(options);
  const JobSpec spec = job(Mode::async, 1, {counting_rows("rows", kFreshWidth)});
  Worker worker(link_to(*primary), spec, 0, 1);
  ARGOSY_CHECK(worker.hello().ok(), "hello");
  ServerOptions follow;
  follow.follow = primary->endpoint();
  const auto follower = started(follow);
  Worker reader(link_to(*follower), spec, 0, 2);
  while (!reader.observe().ok()) {
  }
  std::vector<double> seconds;
  uint32_t batch = 0;
  for (auto _ : state) {
    const auto pushed = worker.push({batch_id(0, batch++)}, {fresh_rows()});
    ARGOSY_CHECK(pushed.ok(), pushed.status().message());
    const Stopwatch since;
    for (;;) {
      const auto row = reader.pull_rows(0, {kFreshRows - 1});
      ARGOSY_CHECK(row.ok(), row.status().message());
      if (row->front() >= static_cast<float>(batch)) break;
    }
    seconds.push_back(since.seconds());
  }
  std::ranges::sort(seconds);
  state.counters["p50_ms"] = 1e3 * seconds[seconds.size() / 2];
  state.counters["p99_ms"] = 1e3 * seconds[seconds.size() * 99 / 100];
}
BENCHMARK(BM_PushToFollower)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(500);

}  // namespace
}  // namespace argosy::ps
