#include <arrow/array.h>
#include <arrow/c/bridge.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <vector>

#include "argosy/parquet/arrow_status.h"
#include "argosy/parquet/object_input.h"
#include "argosy/parquet/parquet_file.h"

namespace argosy::parquet_module {
namespace {

// A record batch is in memory as a whole, cut into blocks.
class BatchRows : public data::RowStream {
 public:
  BatchRows(std::shared_ptr<arrow::RecordBatch> batch, int64_t rows_per_block, std::string path)
      : batch_(std::move(batch)), rows_per_block_(rows_per_block), path_(std::move(path)) {}

  Result<bool> next(ArrowArray* rows) override {
    return guarded(path_, [&]() -> Result<bool> {
      if (at_ >= batch_->num_rows()) return false;
      const auto block = batch_->Slice(at_, rows_per_block_);
      at_ += block->num_rows();
      ARGOSY_ARROW_RETURN_IF_ERROR(arrow::ExportRecordBatch(*block, rows), path_);
      return true;
    });
  }

 private:
  const std::shared_ptr<arrow::RecordBatch> batch_;
  const int64_t rows_per_block_;
  const std::string path_;
  int64_t at_ = 0;
};

class ArrowFile : public data::ColumnFile {
 public:
  ArrowFile(std::string path, std::shared_ptr<arrow::io::RandomAccessFile> file,
            std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader)
      : path_(std::move(path)), file_(std::move(file)), reader_(std::move(reader)) {}

  Status schema(ArrowSchema* schema) const override {
    return guarded(path_, [&] { return status_of(arrow::ExportSchema(*reader_->schema(), schema), path_); });
  }

  int64_t groups() const override { return reader_->num_record_batches(); }

  // The footer does not say how many rows a batch has: it is read.
  Result<data::RowGroup> group(int64_t number, std::span<const int> fields) const override {
    return guarded(path_, [&]() -> Result<data::RowGroup> {
      ASSIGN_OR_RETURN(const auto batch, read_batch(number, fields));
      data::RowGroup group{.rows = batch->num_rows()};
      for (const auto& column : batch->columns()) {
        for (const auto& buffer : column->data()->buffers) group.bytes += buffer == nullptr ? 0 : buffer->size();
      }
      group.bytes_in_memory = group.bytes;
      return group;
    });
  }

  Result<std::unique_ptr<data::RowStream>> read(int64_t group, std::span<const int> fields, int64_t rows_per_block) override {
    return guarded(path_, [&]() -> Result<std::unique_ptr<data::RowStream>> {
      ASSIGN_OR_RETURN(auto batch, read_batch(group, fields));
      return std::unique_ptr<data::RowStream>(std::make_unique<BatchRows>(std::move(batch), rows_per_block, path_));
    });
  }

 private:
  // Offsets and lengths of a damaged file point anywhere: they are looked at before anybody follows them.
  Result<std::shared_ptr<arrow::RecordBatch>> read_batch(int64_t number, std::span<const int> fields) const {
    ARGOSY_ARROW_ASSIGN(auto batch, reader_->ReadRecordBatch(static_cast<int>(number)), path_);
    const int columns = batch->num_columns();
    if (!std::ranges::all_of(fields, [&](int field) { return field < columns; }))
      return Status::data_loss("{}: record batch {} has {} columns, fewer than the schema; the file is damaged", path_, number,
                               columns);
    ARGOSY_ARROW_ASSIGN(auto chosen, batch->SelectColumns({fields.begin(), fields.end()}), path_);
    ARGOSY_ARROW_RETURN_IF_ERROR(chosen->ValidateFull(), path_);
    return chosen;
  }

  const std::string path_;
  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  const std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader_;
};

}  // namespace

Result<std::unique_ptr<data::ColumnFile>> open_arrow(const std::string& path, std::shared_ptr<data::ObjectFile> object) {
  return guarded(path, [&]() -> Result<std::unique_ptr<data::ColumnFile>> {
    ARGOSY_ARROW_ASSIGN(std::shared_ptr<arrow::io::RandomAccessFile> file, open_input(path, std::move(object)), path);
    arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
    options.use_threads = false;
    ARGOSY_ARROW_ASSIGN(auto reader, arrow::ipc::RecordBatchFileReader::Open(file, options), path);
    return std::unique_ptr<data::ColumnFile>(std::make_unique<ArrowFile>(path, std::move(file), std::move(reader)));
  });
}

}  // namespace argosy::parquet_module
