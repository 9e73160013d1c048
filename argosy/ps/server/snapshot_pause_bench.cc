// How long pushes wait while a snapshot of a large table is saved: one server without a network, its table filled with
// `megabytes`, and a worker that goes on pushing random rows. Of interest are the counters, not the time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <future>

#include "argosy/base/random.h"
#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;

constexpr size_t kWidth = 16, kBatch = 50'000;
constexpr size_t kRowBytes = 16 + 2 * kWidth * sizeof(float);  // header, value and Adagrad's state

JobSpec pause_job() {
  TableSpec rows = counting_rows("rows", kWidth);
  rows.rule = "adagrad";
  return job(Mode::async, 1, {rows, counting_dense("dense", 1'000'000)});
}

struct Pushes {
  uint32_t next = 0;
  std::vector<double> seconds;

  void push(Worker& worker, std::vector<uint64_t> keys) {
    Rows rows{.table = 0, .keys = std::move(keys)};
    rows.values.assign(rows.keys.size() * kWidth, 0.01f);
    const Stopwatch watch;
    const auto pushed = worker.push({batch_id(0, next++)}, {std::move(rows)}, {{1, std::vector<float>(1'000'000, 0.01f)}});
    ARGOSY_CHECK(pushed.ok(), pushed.status().message());
    seconds.push_back(watch.seconds());
  }
};

void BM_PauseOfASave(benchmark::State& state, Durability durability) {
  const auto rows = static_cast<uint64_t>(state.range(0)) * 1'000'000 / kRowBytes;
  Folder folder;
  ServerOptions options = InProcess::options();
  options.durability = durability;
  options.directory = folder.path() / "server";
  options.snapshot_roots = {folder.path()};
  options.snapshot_seconds = 1e6;
  options.log_limit_bytes = int64_t{1} << 50;
  InProcess process(options);
  Worker worker = process.worker(pause_job(), 0);
  ARGOSY_CHECK(worker.hello().ok(), "hello");
  ARGOSY_CHECK(worker.init_dense(1, std::vector<float>(1'000'000)).ok(), "first values");
  Pushes pushes;
  for (uint64_t first = 0; first < rows; first += kBatch) {
    std::vector<uint64_t> keys;
    for (uint64_t key = first; key < std::min(rows, first + kBatch); ++key) keys.push_back(key);
    pushes.push(worker, std::move(keys));
  }
  Random random(1);
  const auto push_random = [&] {
    std::vector<uint64_t> keys;
    for (size_t i = 0; i < 4000; ++i) keys.push_back(random.below(rows));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    pushes.push(worker, std::move(keys));
  };
  pushes.seconds.clear();
  for (int i = 0; i < 200; ++i) push_random();
  state.counters["push_ms_alone"] = 1e3 * *std::ranges::max_element(pushes.seconds);
  uint64_t id = 1;
  for (auto _ : state) {
    wire::SaveSnapshotRequest request;
    *request.mutable_caller() = worker.caller();
    request.set_folder((folder.path() / "saved").string());
    request.set_id(id++);
    pushes.seconds.clear();
    auto saving = std::async(std::launch::async, [&] {
      for (;;) {
        auto reply = worker.call<wire::SaveSnapshotReply>(wire::SAVE_SNAPSHOT, request, {}, 600);
        ARGOSY_CHECK(reply.ok(), reply.status().message());
        if (!reply->running()) return *reply;
      }
    });
    while (saving.wait_for(std::chrono::seconds(0)) != std::future_status::ready) push_random();
    const wire::SaveSnapshotReply reply = saving.get();
    state.counters["pause_ms"] = 1e3 * reply.pause_seconds();
    state.counters["push_ms_while_saving"] = 1e3 * *std::ranges::max_element(pushes.seconds);
    state.counters["pushes"] = static_cast<double>(pushes.seconds.size());
    state.counters["megabytes"] = static_cast<double>(reply.bytes()) / 1e6;
  }
}
BENCHMARK_CAPTURE(BM_PauseOfASave, none, Durability::none)
    ->Arg(500)
    ->Arg(2000)
    ->Arg(5000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(BM_PauseOfASave, wal, Durability::wal)->Arg(1000)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace argosy::ps
