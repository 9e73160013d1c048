// A server's own work, without a network: pushes of 26,000 rows of width 10 by Adagrad, with and without a log, and the
// replay of that log.
#include <benchmark/benchmark.h>

#include "argosy/base/random.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;

constexpr size_t kRows = 26'000, kWidth = 10, kKeys = 1'000'000;

JobSpec bench_job() {
  TableSpec rows = counting_rows("rows", kWidth);
  rows.rule = "adagrad";
  return job(Mode::async, 1, {rows});
}

Rows random_rows(Random& random) {
  Rows rows;
  for (size_t i = 0; i < kRows; ++i) rows.keys.push_back(i * (kKeys / kRows) + random.below(kKeys / kRows));
  rows.values.assign(kRows * kWidth, 0.01f);
  return rows;
}

void push_many(Worker& worker, uint32_t first, uint32_t count) {
  Random random(first);
  for (uint32_t i = first; i < first + count; ++i) {
    const auto pushed = worker.push({batch_id(0, i)}, {random_rows(random)});
    ARGOSY_CHECK(pushed.ok(), pushed.status().message());
  }
}

void BM_Push(benchmark::State& state, Durability durability) {
  Folder folder;
  ServerOptions options = InProcess::options();
  options.durability = durability;
  options.directory = folder.path() / "server";
  InProcess process(options);
  Worker worker = process.worker(bench_job(), 0);
  ARGOSY_CHECK(worker.hello().ok(), "hello");
  push_many(worker, 0, 60);  // makes most rows
  uint32_t next = 60;
  Random random(1);
  const Rows rows = random_rows(random);
  for (auto _ : state) {
    const auto pushed = worker.push({batch_id(0, next++)}, {rows});
    ARGOSY_CHECK(pushed.ok(), pushed.status().message());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRows));
}
BENCHMARK_CAPTURE(BM_Push, none, Durability::none)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Push, wal, Durability::wal)->UseRealTime()->Unit(benchmark::kMillisecond);

// Items are rows that were pushed: the issue asks for 5 million a second.
void BM_Replay(benchmark::State& state) {
  constexpr uint32_t kPushes = 400;
  Folder folder;
  ServerOptions options = InProcess::options();
  options.directory = folder.path() / "server";
  {
    InProcess process(options);
    Worker worker = process.worker(bench_job(), 0);
    ARGOSY_CHECK(worker.hello().ok(), "hello");
    push_many(worker, 0, kPushes);
  }
  for (auto _ : state) {
    auto server = Server::start(options);
    ARGOSY_CHECK(server.ok(), server.status().message());
    state.PauseTiming();
    server->reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kPushes * kRows));
}
BENCHMARK(BM_Replay)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace argosy::ps
