#include <arrow/c/bridge.h>
#include <arrow/io/file.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/compression.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <utility>
#include <vector>

#include "argosy/parquet/arrow_status.h"
#include "argosy/parquet/parquet_file.h"

namespace argosy::parquet_module {
namespace {

class ParquetWriter : public data::ColumnFileWriter {
 public:
  ParquetWriter(std::string path, std::shared_ptr<arrow::Schema> schema, int64_t rows_per_group)
      : path_(std::move(path)), schema_(std::move(schema)), rows_per_group_(rows_per_group) {}

  Status open(const data::ColumnWriteOptions& options) {
    ARGOSY_ARROW_ASSIGN(file_, arrow::io::FileOutputStream::Open(path_), path_);
    ASSIGN_OR_RETURN(const auto compression, compression_of(options.compression));
    const auto properties =
        parquet::WriterProperties::Builder().compression(compression)->max_row_group_length(rows_per_group_)->build();
    // With Arrow's schema in the footer, lists of one size are read back as such.
    const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
    ARGOSY_ARROW_ASSIGN(
        writer_, parquet::arrow::FileWriter::Open(*schema_, arrow::default_memory_pool(), file_, properties, arrow_properties),
        path_);
    return {};
  }

  // Rows are kept until they make a row group, and then written column by column.
  Status write(ArrowArray* rows) override {
    return guarded(path_, [&]() -> Status {
      ARGOSY_ARROW_ASSIGN(auto batch, arrow::ImportRecordBatch(rows, schema_), path_);
      while (kept_rows_ + batch->num_rows() >= rows_per_group_) {
        const int64_t taken = rows_per_group_ - kept_rows_;
        kept_.push_back(batch->Slice(0, taken));
        batch = batch->Slice(taken);
        RETURN_IF_ERROR(write_group());
      }
      if (batch->num_rows() > 0) kept_.push_back(batch);
      kept_rows_ += batch->num_rows();
      return {};
    });
  }

  Status close() override {
    return guarded(path_, [&]() -> Status {
      RETURN_IF_ERROR(write_group());
      ARGOSY_ARROW_RETURN_IF_ERROR(writer_->Close(), path_);
      return status_of(file_->Close(), path_);
    });
  }

 private:
  Status write_group() {
    kept_rows_ = 0;
    if (kept_.empty()) return {};
    ARGOSY_ARROW_ASSIGN(const auto table, arrow::Table::FromRecordBatches(schema_, std::exchange(kept_, {})), path_);
    return status_of(writer_->WriteTable(*table, rows_per_group_), path_);
  }
  Result<arrow::Compression::type> compression_of(const std::string& name) const {
    if (name == "zstd") return arrow::Compression::ZSTD;
    if (name == "snappy") return arrow::Compression::SNAPPY;
    if (name == "none") return arrow::Compression::UNCOMPRESSED;
    return Status::invalid_argument("compression is '{}', expected zstd, snappy or none", name);
  }

  const std::string path_;
  const std::shared_ptr<arrow::Schema> schema_;
  const int64_t rows_per_group_;
  std::shared_ptr<arrow::io::FileOutputStream> file_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  std::vector<std::shared_ptr<arrow::RecordBatch>> kept_;
  int64_t kept_rows_ = 0;
};

}  // namespace

Result<std::unique_ptr<data::ColumnFileWriter>> create_parquet(const std::string& path, ArrowSchema* schema,
                                                               const data::ColumnWriteOptions& options) {
  return guarded(path, [&]() -> Result<std::unique_ptr<data::ColumnFileWriter>> {
    ARGOSY_ARROW_ASSIGN(auto known, arrow::ImportSchema(schema), path);
    if (options.rows_per_group < 1)
      return Status::invalid_argument("rows_per_group is {}, expected at least 1", options.rows_per_group);
    auto writer = std::make_unique<ParquetWriter>(path, std::move(known), options.rows_per_group);
    RETURN_IF_ERROR(writer->open(options));
    return std::unique_ptr<data::ColumnFileWriter>(std::move(writer));
  });
}

}  // namespace argosy::parquet_module
