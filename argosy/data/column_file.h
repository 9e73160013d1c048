#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/arrow_interface.h"
#include "argosy/data/object.h"

// What the module argosy_parquet, a shared library that is opened when a table is read for the first time, offers. Everything
// passes here: no header of Arrow's library is seen outside of the module, and none of its symbols.
namespace argosy::data {

// The rows of one group, block by block. Thread-compatible.
class RowStream {
 public:
  virtual ~RowStream() = default;
  // The next rows as a struct array with a child for each field that was asked for; false at the end.
  virtual Result<bool> next(ArrowArray* rows) = 0;
};

// Bytes are those of some fields.
struct RowGroup {
  int64_t rows = 0;
  int64_t bytes = 0;            // in the file
  int64_t bytes_in_memory = 0;  // about
};

// A file of row groups. Thread-compatible. Errors name the file.
class ColumnFile {
 public:
  virtual ~ColumnFile() = default;
  virtual Status schema(ArrowSchema* schema) const = 0;
  virtual int64_t groups() const = 0;
  virtual Result<RowGroup> group(int64_t number, std::span<const int> fields) const = 0;
  // These of the schema's fields, in this order, in blocks of so many rows but for the last. The file outlives the stream.
  virtual Result<std::unique_ptr<RowStream>> read(int64_t group, std::span<const int> fields, int64_t rows_per_block) = 0;
};

// Writes a file, which is one only after close(). Thread-compatible.
class ColumnFileWriter {
 public:
  virtual ~ColumnFileWriter() = default;
  virtual Status write(ArrowArray* rows) = 0;  // takes the rows
  virtual Status close() = 0;
};

struct ColumnWriteOptions {
  int64_t rows_per_group = 100'000;
  std::string compression = "zstd";  // "zstd", "snappy", "none"
};

// Rows in memory, each array with every field of the schema.
struct RowBatches {
  ArrowOwned<ArrowSchema> schema;
  std::vector<ArrowOwned<ArrowArray>> rows;
};

// Thread-safe.
class ColumnFiles {
 public:
  virtual ~ColumnFiles() = default;
  // Of `object`, and of this machine where there is none; errors name `path`.
  virtual Result<std::unique_ptr<ColumnFile>> open_parquet(const std::string& path,
                                                           std::shared_ptr<ObjectFile> object = nullptr) = 0;
  virtual Result<std::unique_ptr<ColumnFile>> open_arrow(const std::string& path,
                                                         std::shared_ptr<ObjectFile> object = nullptr) = 0;
  // A stream of Arrow's IPC format, and nothing behind it. Errors do not name where it is from.
  virtual Result<RowBatches> read_stream(std::string bytes) = 0;
  virtual Result<std::unique_ptr<ColumnFileWriter>> create_parquet(const std::string& path, ArrowSchema* schema,
                                                                   const ColumnWriteOptions& options) = 0;
};

// Of this header. A module of another version is refused.
inline constexpr int kColumnFilesVersion = 3;
// What the module exports (module.h): void* argosy_column_files(int version), which points to a ColumnFiles.
inline constexpr const char* kColumnFilesFunction = "argosy_column_files";

// Opens the module, once in a process. An error says what is missing.
Result<ColumnFiles*> column_files();

}  // namespace argosy::data
