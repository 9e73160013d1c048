#include "argosy/parquet/parquet_file.h"

#include <arrow/c/bridge.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <algorithm>
#include <vector>

#include "argosy/parquet/arrow_status.h"
#include "argosy/parquet/object_input.h"

namespace argosy::parquet_module {
namespace {

// A damaged file can claim any size. What all files that are read have in memory at a time is far below this: blocks, and a piece
// of each column.
constexpr int64_t kMostMemory = int64_t{4} << 30;
constexpr int64_t kMostBytes = int64_t{1} << 40;  // of a column in a row group, as a damaged footer may say
constexpr int64_t kReadBytes = 1 << 20, kReadObjectBytes = 4 << 20;  // of a column at a time

// Leaves of the fields, as Parquet numbers its columns.
void add_leaves(const parquet::arrow::SchemaField& field, std::vector<int>& leaves) {
  if (field.is_leaf()) leaves.push_back(field.column_index);
  for (const auto& child : field.children) add_leaves(child, leaves);
}

class ParquetRows : public data::RowStream {
 public:
  ParquetRows(std::unique_ptr<arrow::RecordBatchReader> reader, std::string path)
      : reader_(std::move(reader)), path_(std::move(path)) {}

  Result<bool> next(ArrowArray* rows) override {
    return guarded(path_, [&]() -> Result<bool> {
      std::shared_ptr<arrow::RecordBatch> batch;
      ARGOSY_ARROW_RETURN_IF_ERROR(reader_->ReadNext(&batch), path_);
      if (batch == nullptr) return false;
      ARGOSY_ARROW_RETURN_IF_ERROR(batch->Validate(), path_);
      ARGOSY_ARROW_RETURN_IF_ERROR(arrow::ExportRecordBatch(*batch, rows), path_);
      return true;
    });
  }

 private:
  const std::unique_ptr<arrow::RecordBatchReader> reader_;
  const std::string path_;
};

class ParquetFile : public data::ColumnFile {
 public:
  ParquetFile(std::string path, std::shared_ptr<arrow::MemoryPool> pool, std::unique_ptr<parquet::arrow::FileReader> reader)
      : path_(std::move(path)), pool_(std::move(pool)), reader_(std::move(reader)) {}

  Status schema(ArrowSchema* schema) const override {
    return guarded(path_, [&]() -> Status {
      std::shared_ptr<arrow::Schema> known;
      ARGOSY_ARROW_RETURN_IF_ERROR(reader_->GetSchema(&known), path_);
      return status_of(arrow::ExportSchema(*known, schema), path_);
    });
  }

  int64_t groups() const override { return reader_->num_row_groups(); }

  Result<data::RowGroup> group(int64_t number, std::span<const int> fields) const override {
    return guarded(path_, [&]() -> Result<data::RowGroup> {
      const auto footer = reader_->parquet_reader()->metadata()->RowGroup(static_cast<int>(number));
      data::RowGroup group{.rows = footer->num_rows()};
      if (group.rows < 0)
        return Status::data_loss("{}: row group {} has {} rows by its footer; the file is damaged", path_, number, group.rows);
      for (int leaf : leaves(fields)) {
        const auto chunk = footer->ColumnChunk(leaf);
        group.bytes += std::clamp<int64_t>(chunk->total_compressed_size(), 0, kMostBytes);
        group.bytes_in_memory += std::clamp<int64_t>(chunk->total_uncompressed_size(), 0, kMostBytes);
      }
      return group;
    });
  }

  Result<std::unique_ptr<data::RowStream>> read(int64_t group, std::span<const int> fields, int64_t rows_per_block) override {
    return guarded(path_, [&]() -> Result<std::unique_ptr<data::RowStream>> {
      reader_->set_batch_size(rows_per_block);
      ARGOSY_ARROW_ASSIGN(auto rows, reader_->GetRecordBatchReader({static_cast<int>(group)}, leaves(fields)), path_);
      return std::unique_ptr<data::RowStream>(std::make_unique<ParquetRows>(std::move(rows), path_));
    });
  }

 private:
  std::vector<int> leaves(std::span<const int> fields) const {
    std::vector<int> found;
    for (int field : fields) add_leaves(reader_->manifest().schema_fields.at(static_cast<size_t>(field)), found);
    return found;
  }

  const std::string path_;
  const std::shared_ptr<arrow::MemoryPool> pool_;  // outlives what is read
  const std::unique_ptr<parquet::arrow::FileReader> reader_;
};

}  // namespace

Result<std::unique_ptr<data::ColumnFile>> open_parquet(const std::string& path, std::shared_ptr<data::ObjectFile> object) {
  return guarded(path, [&]() -> Result<std::unique_ptr<data::ColumnFile>> {
    // Never freed: rows that were handed on are released long after their file was closed.
    static auto* const pool = new std::shared_ptr<arrow::MemoryPool>(
        std::make_shared<arrow::CappedMemoryPool>(arrow::default_memory_pool(), kMostMemory));
    const int64_t piece = object == nullptr ? kReadBytes : kReadObjectBytes;
    ARGOSY_ARROW_ASSIGN(auto file, open_input(path, std::move(object)), path);
    parquet::ReaderProperties properties(pool->get());
    properties.enable_buffered_stream();
    properties.set_buffer_size(piece);
    parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
    arrow_properties.set_pre_buffer(false);
    parquet::arrow::FileReaderBuilder builder;
    ARGOSY_ARROW_RETURN_IF_ERROR(builder.Open(std::move(file), properties), path);
    ARGOSY_ARROW_ASSIGN(auto reader, builder.memory_pool(pool->get())->properties(arrow_properties)->Build(), path);
    return std::unique_ptr<data::ColumnFile>(std::make_unique<ParquetFile>(path, *pool, std::move(reader)));
  });
}

}  // namespace argosy::parquet_module
