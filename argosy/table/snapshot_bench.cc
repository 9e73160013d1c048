#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "argosy/base/random.h"
#include "argosy/table/snapshot.h"
#include "argosy/table/snapshot_writer.h"

namespace argosy::table {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kRecordBytes = 112;  // width 10 with Adagrad: key and counters, value, state
constexpr uint64_t kRows = 2'000'000;
constexpr uint64_t kRowsInChunk = 10'000;

void write_snapshot(const fs::path& folder, const std::string& chunk) {
  auto writer = std::move(SnapshotWriter::open(folder, {.id = 1})).value();
  for (uint64_t row = 0; row < kRows; row += kRowsInChunk) {
    ARGOSY_CHECK(writer->add({.table = "emb", .count = kRowsInChunk, .bytes = chunk}).ok());
  }
  ARGOSY_CHECK(writer->commit("").ok());
}

fs::path scratch_folder() {
  std::string pattern = (fs::current_path() / "snapshot-bench-XXXXXX").string();
  ARGOSY_CHECK(::mkdtemp(pattern.data()) != nullptr, "no folder for the benchmark");
  return pattern;
}

// Until it is on the disk.
void BM_SnapshotWrite(benchmark::State& state) {
  const fs::path folder = scratch_folder();
  const std::string chunk(kRecordBytes * kRowsInChunk, 'x');
  for (auto _ : state) write_snapshot(folder / "s", chunk);
  fs::remove_all(folder);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kRows));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kRows * kRecordBytes));
}
BENCHMARK(BM_SnapshotWrite)->UseRealTime()->Unit(benchmark::kMillisecond);

// From the page cache, every key looked at.
void BM_SnapshotRead(benchmark::State& state) {
  const fs::path folder = scratch_folder();
  write_snapshot(folder / "s", std::string(kRecordBytes * kRowsInChunk, 'x'));
  for (auto _ : state) {
    uint64_t mine = 0;
    const Status status = Snapshot::open(folder / "s")->read([&](const SnapshotChunk& chunk) {
      for (uint64_t i = 0; i < chunk.count; ++i) mine += mix64(chunk.key(i)) % 3 == 0 ? 1 : 0;
      return Status();
    });
    ARGOSY_CHECK(status.ok(), status.message());
    benchmark::DoNotOptimize(mine);
  }
  fs::remove_all(folder);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kRows));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kRows * kRecordBytes));
}
BENCHMARK(BM_SnapshotRead)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace argosy::table
