#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/data/arrow_columns.h"
#include "argosy/data/byte_stream.h"
#include "argosy/data/column_file.h"
#include "argosy/data/dataset.h"

namespace argosy::data {

// A file of text, or one row group of a file that is a table, or one batch of a table in memory: what one reader reads, and one
// worker is handed.
struct FilePart {
  std::string path;
  std::string group;      // of rows: "row group 3"
  int64_t number = 0;     // of rows: which group
  std::optional<int64_t> lines;  // or rows; none: not known before it is read
  std::optional<int64_t> bytes;  // in the file; none: not known
  int64_t rows_per_block = 0;
  std::shared_ptr<const ArrowColumns> columns = nullptr;  // of rows

  bool text() const { return columns == nullptr; }
};

// What the files of a dataset consist of, in their order: the same in every process that lists the same files. Thread-safe.
class FileParts {
 public:
  // Reads the footers of tables and checks their columns against the slots. REQUIRES: check_options(options) is ok.
  static Result<std::shared_ptr<const FileParts>> list(const DatasetOptions& options);

  size_t size() const { return parts_.size(); }
  const FilePart& operator[](size_t number) const { return parts_[number]; }
  const std::shared_ptr<const ArrowTable>& table() const { return table_; }

 private:
  Status add_file(const DatasetOptions& options, const std::string& file);
  Status add_table(const DatasetOptions& options);

  std::shared_ptr<const ArrowTable> table_;
  std::vector<FilePart> parts_;
};

// Rows [begin, end) of what they lie in.
struct RowRange {
  std::shared_ptr<const ArrowArray> rows;
  int64_t begin = 0, end = 0;
};

// Reads parts that have rows, for one reader thread; a file stays open from one part of it to the next. Thread-compatible.
class PartReader {
 public:
  // `stop`, which outlives the reader, ends its waits for stores.
  PartReader(const FileParts& parts, FileFormat format, const StopSignal& stop) : parts_(parts), format_(format), stop_(stop) {}

  // The next block of the part of begin(); none at its end, after as many rows as its footer says.
  Status begin(size_t part);
  Result<std::optional<RowRange>> next();

 private:
  Result<std::optional<RowRange>> next_of_table();

  const FileParts& parts_;
  const FileFormat format_;
  const StopSignal& stop_;
  const FilePart* part_ = nullptr;
  std::string open_path_;
  std::unique_ptr<ColumnFile> file_;
  std::unique_ptr<RowStream> stream_;  // of file_
  int64_t read_ = 0;                   // rows of the part
};

// Opens a table by its format, or by its name. `stop`, where there is one, outlives the file.
Result<std::unique_ptr<ColumnFile>> open_column_file(const std::string& path, FileFormat format,
                                                     const StopSignal* stop = nullptr);

}  // namespace argosy::data
