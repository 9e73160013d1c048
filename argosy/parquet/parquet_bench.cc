#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "argosy/base/error.h"
#include "argosy/base/random.h"
#include "argosy/data/arrow_export.h"
#include "argosy/data/column_file.h"
#include "argosy/data/queue_dataset.h"

// Rows of Criteo's 40 columns, from a Parquet file (zstd) into batches: what a core does in a second, all threads that read added
// up.
namespace argosy::data {
namespace {

constexpr int64_t kRows = 400'000, kRowsPerGroup = 100'000, kRowsAtOnce = 10'000;

std::vector<SlotSpec> criteo_columns(bool ragged) {
  std::vector<SlotSpec> slots = {{.name = "label", .type = SlotType::int64, .dense = true, .width = 1}};
  for (int i = 1; i <= 13; ++i)
    slots.push_back({.name = fmt::format("I{}", i), .type = SlotType::float32, .dense = true, .width = 1});
  for (int i = 1; i <= 26; ++i)
    slots.push_back({.name = fmt::format("C{}", i), .type = SlotType::int64, .dense = !ragged, .width = 1});
  return slots;
}

Batch some_rows(Random& random, const std::vector<SlotSpec>& slots) {
  Batch batch;
  batch.reset(slots);
  for (; batch.size < kRowsAtOnce; ++batch.size) {
    for (size_t i = 0; i < slots.size(); ++i) {
      Column& column = batch.columns[i];
      if (column.type() == SlotType::float32) {
        *column.room<float>(1) = static_cast<float>(random.below(300)) / 603;
      } else {
        const uint64_t few = i == 0       ? 2
                             : i % 3 == 0 ? 30
                             : i % 3 == 1 ? 2000
                                          : 1'000'001;  // as categories are: some of few values
        *column.room<int64_t>(1) = static_cast<int64_t>(random.below(few) * random.below(few) / few);
      }
      column.add_sample(1);
    }
  }
  return batch;
}

// The file, which goes with the process.
class CriteoFile {
 public:
  CriteoFile() : path_((std::filesystem::temp_directory_path() / fmt::format("argosy-bench-{}.parquet", ::getpid())).string()) {
    const std::vector<SlotSpec> slots = criteo_columns(false);
    ArrowOwned<ArrowSchema> schema = arrow_schema(slots);
    const auto writer =
        value_or_throw(value_or_throw(column_files())->create_parquet(path_, schema.get(), {.rows_per_group = kRowsPerGroup}));
    Random random(1);
    for (int64_t row = 0; row < kRows; row += kRowsAtOnce) {
      ArrowOwned<ArrowArray> rows = arrow_rows(some_rows(random, slots), slots);
      throw_if_error(writer->write(rows.get()));
    }
    throw_if_error(writer->close());
  }
  ~CriteoFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

void BM_ParquetCriteo(benchmark::State& state) {
  static const CriteoFile file;
  QueueDataset dataset({.slots = criteo_columns(true), .batch_size = 1000, .files = {file.path()}});
  int64_t rows = 0;
  for (auto _ : state) {
    throw_if_error(dataset.start(1));
    Batch batch;
    while (value_or_throw(dataset.next(0, batch))) rows += batch.size;
  }
  state.SetItemsProcessed(rows);
}
BENCHMARK(BM_ParquetCriteo)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace argosy::data
