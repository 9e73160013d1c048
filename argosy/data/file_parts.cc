#include "argosy/data/file_parts.h"

#include <algorithm>
#include <filesystem>

#include "argosy/base/uri.h"
#include "argosy/data/arrow_table.h"
#include "argosy/data/message_log.h"
#include "argosy/data/object_store.h"
#include "argosy/data/pipe.h"

namespace argosy::data {
namespace {

// Large enough to make the hand-over cheap, small enough for a core's cache and for many blocks in flight.
constexpr int64_t kBlockBytes = 2 << 20;
constexpr int64_t kFewestRows = 64, kMostRows = 65'536, kTableRows = 8192;

// A multiple of the batch size where it can be, so that a batch seldom needs two blocks.
int64_t block_rows(int64_t wanted, int64_t batch_size) { return wanted < batch_size ? wanted : wanted / batch_size * batch_size; }

int64_t rows_per_block(const RowGroup& group, int64_t batch_size) {
  const int64_t row_bytes = std::max<int64_t>(1, group.bytes_in_memory / std::max<int64_t>(1, group.rows));
  return block_rows(std::clamp(kBlockBytes / row_bytes, kFewestRows, kMostRows), batch_size);
}

}  // namespace

Result<std::unique_ptr<ColumnFile>> open_column_file(const std::string& path, FileFormat format, const StopSignal* stop) {
  if (is_remote_path(path))
    return Status::unimplemented(
        "'{}': a table behind `hadoop fs` is not read in place; copy it to this machine first, or read it by Arrow "
        "(ARGOSY_HDFS=arrow)",
        path);
  ASSIGN_OR_RETURN(ColumnFiles * files, column_files());
  const std::filesystem::path name(is_uri(path) ? without_query(path) : path);
  const bool parquet = format == FileFormat::parquet || (format == FileFormat::by_name && name.extension() == ".parquet");
  std::shared_ptr<ObjectFile> object;
  if (is_store_uri(path)) {
    ASSIGN_OR_RETURN(object, open_object(path, stop));
  }
  return parquet ? files->open_parquet(local_path(path), object) : files->open_arrow(local_path(path), object);
}

Result<std::shared_ptr<const FileParts>> FileParts::list(const DatasetOptions& options) {
  auto parts = std::make_shared<FileParts>();
  if (options.table != nullptr) RETURN_IF_ERROR(parts->add_table(options));
  for (const std::string& file : options.files) RETURN_IF_ERROR(parts->add_file(options, file));
  return std::shared_ptr<const FileParts>(std::move(parts));
}

Status FileParts::add_file(const DatasetOptions& options, const std::string& file) {
  if (is_message_range(file)) {
    ASSIGN_OR_RETURN(const MessageRange range, parse_message_range(file));
    FilePart part{.path = file, .group = {}, .number = range.from};
    if (is_identity_command(options.pipe_command)) part.lines = range.to - range.from;  // a command may write more, or fewer
    parts_.push_back(std::move(part));
    return {};
  }
  if (!is_table(options, file)) {
    std::error_code error;  // a remote file's size is not known
    const auto size = std::filesystem::file_size(local_path(file), error);
    parts_.push_back(
        {.path = file, .group = {}, .lines = {}, .bytes = error ? std::nullopt : std::optional(static_cast<int64_t>(size))});
    return {};
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<ColumnFile> opened, open_column_file(file, options.format));
  ArrowOwned<ArrowSchema> schema;
  RETURN_IF_ERROR(opened->schema(schema.fill()));
  ASSIGN_OR_RETURN(const auto columns,
                   ArrowColumns::make(*schema, ArrowColumns::Rows::projected, options.slots, options.columns, file));
  for (int64_t number = 0; number < opened->groups(); ++number) {
    ASSIGN_OR_RETURN(const RowGroup group, opened->group(number, columns->fields()));
    parts_.push_back({.path = file,
                      .group = fmt::format("row group {}", number),
                      .number = number,
                      .lines = group.rows,
                      .bytes = group.bytes,
                      .rows_per_block = rows_per_block(group, options.batch_size),
                      .columns = columns});
  }
  return {};
}

Status FileParts::add_table(const DatasetOptions& options) {
  table_ = options.table;
  ASSIGN_OR_RETURN(const auto columns,
                   ArrowColumns::make(table_->schema(), ArrowColumns::Rows::whole, options.slots, options.columns, "the table"));
  for (size_t number = 0; number < table_->batches(); ++number) {
    const ArrowArray& rows = table_->batch(number);
    RETURN_IF_ERROR(columns->check(rows).with_context("the table, batch {}", number));
    parts_.push_back({.path = "the table",
                      .group = fmt::format("batch {}", number),
                      .number = static_cast<int64_t>(number),
                      .lines = rows.length,
                      .bytes = rows.length,  // rows stand for bytes where nothing is read
                      .rows_per_block = block_rows(kTableRows, options.batch_size),
                      .columns = columns});
  }
  return {};
}

Status PartReader::begin(size_t part) {
  part_ = &parts_[part];
  stream_ = nullptr;
  read_ = 0;
  if (parts_.table() != nullptr) return {};
  if (file_ == nullptr || open_path_ != part_->path) {
    file_ = nullptr;
    ASSIGN_OR_RETURN(file_, open_column_file(part_->path, format_, &stop_));
    open_path_ = part_->path;
  }
  if (part_->number >= file_->groups())
    return Status::data_loss("'{}' has changed while it was read: it had a {}, and has {} now", part_->path, part_->group,
                             file_->groups());
  ASSIGN_OR_RETURN(stream_, file_->read(part_->number, part_->columns->fields(), part_->rows_per_block));
  return {};
}

Result<std::optional<RowRange>> PartReader::next_of_table() {
  const int64_t begin = read_;
  if (begin == *part_->lines) return std::optional<RowRange>();
  read_ = std::min(*part_->lines, begin + part_->rows_per_block);
  const auto& table = parts_.table();
  return std::optional(
      RowRange{.rows = {table, &table->batch(static_cast<size_t>(part_->number))}, .begin = begin, .end = read_});
}

Result<std::optional<RowRange>> PartReader::next() {
  if (stream_ == nullptr) return next_of_table();
  auto rows = std::make_shared<ArrowOwned<ArrowArray>>();
  ASSIGN_OR_RETURN(const bool more, stream_->next(rows->fill()));
  if (more) {
    RETURN_IF_ERROR(part_->columns->check(**rows).with_context("{}, {}", part_->path, part_->group));
    read_ += (*rows)->length;
  }
  if (read_ > *part_->lines || (!more && read_ < *part_->lines))
    return Status::data_loss(
        "{}, {}: found {} rows, and the file's footer says {}; the file is damaged or was changed while it was read", part_->path,
        part_->group, read_, *part_->lines);
  if (!more) return std::optional<RowRange>();
  const int64_t length = (*rows)->length;
  return std::optional(RowRange{.rows = {rows, rows->get()}, .begin = 0, .end = length});
}

}  // namespace argosy::data
