#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "argosy/table/record_log.h"

namespace argosy::table {
namespace {

namespace fs = std::filesystem;

// A log in a folder of its own under the current one: /tmp is in memory on many machines.
class ScratchLog {
 public:
  explicit ScratchLog(bool sync) {
    std::string pattern = (fs::current_path() / "log-bench-XXXXXX").string();
    ARGOSY_CHECK(::mkdtemp(pattern.data()) != nullptr, "no folder for the benchmark");
    folder_ = pattern;
    log_ = std::move(RecordLog::open(folder_, {.sync = sync})).value();
  }
  ~ScratchLog() { fs::remove_all(folder_); }
  RecordLog& operator*() { return *log_; }

 private:
  fs::path folder_;
  std::unique_ptr<RecordLog> log_;
};

constexpr int64_t kPushBytes = 26'000 * 48;  // keys and gradients of a batch, width 10
constexpr int64_t kKept = int64_t{1} << 30;

void append(RecordLog& log, const std::string& payload, const std::string& header) {
  const Bytes pieces[] = {std::as_bytes(std::span(header)), std::as_bytes(std::span(payload))};
  const auto position = log.append(pieces);
  ARGOSY_CHECK(position.ok(), position.status().message());
}

// As a server does it: a snapshot every GiB cuts the log.
void cut(benchmark::State& state, RecordLog& log) {
  if (log.bytes() < kKept) return;
  state.PauseTiming();
  ARGOSY_CHECK(log.drop_before(*log.rotate()).ok());
  state.ResumeTiming();
}

void run_append(benchmark::State& state, bool sync) {
  ScratchLog log(sync);
  const std::string header(64, 'h');
  const std::string payload(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    append(*log, payload, header);
    cut(state, *log);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void BM_LogAppend(benchmark::State& state) { run_append(state, false); }
BENCHMARK(BM_LogAppend)->Arg(64)->Arg(4096)->Arg(kPushBytes)->UseRealTime();

void BM_LogAppendSync(benchmark::State& state) { run_append(state, true); }
BENCHMARK(BM_LogAppendSync)->Arg(4096)->Arg(kPushBytes)->UseRealTime();

// Several appenders share one sync.
void BM_LogAppendSyncShared(benchmark::State& state) {
  static std::unique_ptr<ScratchLog> log;
  if (state.thread_index() == 0) log = std::make_unique<ScratchLog>(true);
  const std::string header(64, 'h');
  const std::string payload(4096, 'x');
  for (auto _ : state) append(**log, payload, header);
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) log.reset();
}
BENCHMARK(BM_LogAppendSyncShared)->Threads(1)->Threads(8)->UseRealTime();

// From the page cache, as after a kill of the process. Items are rows of width 10.
void BM_LogReplay(benchmark::State& state) {
  ScratchLog log(false);
  const std::string header(64, 'h');
  const std::string payload(static_cast<size_t>(state.range(0)), 'x');
  while ((*log).bytes() < kKept / 4) append(*log, payload, header);
  int64_t bytes = 0;
  for (auto _ : state) {
    const Status status = (*log).replay(0, [&](uint64_t, Bytes record) {
      bytes += static_cast<int64_t>(record.size());
      return Status();
    });
    ARGOSY_CHECK(status.ok(), status.message());
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(bytes / 48);
}
BENCHMARK(BM_LogReplay)->Arg(4096)->Arg(kPushBytes)->UseRealTime();

}  // namespace
}  // namespace argosy::table
