#include "argosy/data/convert.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "argosy/base/temporary.h"
#include "argosy/base/text.h"
#include "argosy/base/uri.h"
#include "argosy/data/arrow_export.h"
#include "argosy/data/arrow_numbers.h"
#include "argosy/data/file_parts.h"
#include "argosy/data/object_store.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/data/remote_store.h"
#include "argosy/data/working_folder.h"

namespace argosy::data {
namespace {

constexpr int kRowsAtOnce = 8192;

Status write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return Status::unavailable("cannot write '{}': {}", path, system_reason(errno));
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

// Where the file is written that becomes the one at `path`.
Result<Temporary> begin_output(const std::string& path) {
  RETURN_IF_ERROR(check_file_place(path));
  return Temporary::file(is_store_uri(path) ? std::filesystem::temp_directory_path() / "argosy-convert"
                                            : std::filesystem::path(path));
}

Status put_into_store(const Temporary& written, const std::string& uri) {
  const StopSignal never;
  RETURN_IF_ERROR(never.status());
  return put_object(uri, [&]() -> Result<std::unique_ptr<ByteStream>> {
    ASSIGN_OR_RETURN(Fd fd, open_for_reading(written.path().string()));
    return read_fd(std::move(fd), written.path().string(), never);
  });
}

// What was written takes its place.
Status put_into_place(Temporary& written, const std::string& path) {
  if (is_store_uri(path)) return put_into_store(written, path);
  if (::fsync(written.fd()) != 0) return Status::unavailable("cannot write '{}': {}", path, system_reason(errno));
  std::error_code error;
  std::filesystem::rename(written.path(), path, error);
  if (error) return Status::unavailable("cannot put the file '{}' into its place: {}", path, error.message());
  written.renamed();
  return {};
}

// What is no plain file, or is what is read, is not replaced.
Status check_output(const std::string& input, const std::string& output) {
  if (is_uri(output) || is_remote_path(output)) return {};  // begin_output() looks at those; no folder here is meant
  std::error_code error;
  const auto type = std::filesystem::status(output, error).type();
  if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::regular)
    return Status::invalid_argument("'{}' is not a plain file; name another output", output);
  if (std::filesystem::equivalent(input, output, error))
    return Status::invalid_argument("'{}' is the input; name another output", output);
  return {};
}

template <typename T>
void append_values(const T* values, int64_t count, std::string& out) {
  for (int64_t i = 0; i < count; ++i) fmt::format_to(std::back_inserter(out), " {}", values[i]);
}

Status append_sample(const Batch& batch, std::span<const SlotSpec> slots, int64_t sample, std::string& out) {
  for (size_t i = 0; i < slots.size(); ++i) {
    const Column& column = batch.columns[i];
    const auto at = static_cast<size_t>(sample);
    const int64_t begin = column.dense() ? sample * column.width() : column.offsets()[at];
    const int64_t count = column.dense() ? column.width() : column.offsets()[at + 1] - begin;
    if (count == 0)
      return Status::invalid_argument(
          "slot '{}' has no value, and MultiSlot text has no word for that: give it one (--default {}=0)", slots[i].name,
          slots[i].name);
    fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : " ", count);
    column.type() == SlotType::float32 ? append_values(column.floats() + begin, count, out)
                                       : append_values(column.ints() + begin, count, out);
  }
  out += '\n';
  return {};
}

// Gives each batch of the file to `take`.
template <typename Take>
Result<ConvertCount> each_batch(DatasetOptions options, Take&& take) {
  options.batch_size = kRowsAtOnce;
  QueueDataset dataset(std::move(options));
  RETURN_IF_ERROR(dataset.start(1));
  ConvertCount count;
  for (;;) {
    Batch batch;
    ASSIGN_OR_RETURN(const bool more, dataset.next(0, batch));
    if (!more) break;
    const int64_t size = batch.size;
    RETURN_IF_ERROR(take(std::move(batch), count.samples));
    count.samples += size;
  }
  count.bad_lines = dataset.counters().bad_lines;
  return count;
}

// Criteo's slots as columns of one value each.
std::vector<SlotSpec> criteo_columns() {
  std::vector<SlotSpec> slots = criteo_slots();
  for (SlotSpec& slot : slots) slot.dense = true;
  return slots;
}

Result<SlotSpec> parse_slot(const std::string& word) {
  std::vector<std::string> parts = split(word, ':');
  if (parts.empty()) parts.emplace_back();
  SlotSpec slot{.name = parts[0], .dense = parts.size() == 3};
  const bool known = parts.size() >= 2 && (parts[1] == "int64" || parts[1] == "float32");
  if (known) slot.type = parts[1] == "int64" ? SlotType::int64 : SlotType::float32;
  if (parts.size() == 3) {
    const auto width = parse_integer(parts[2]);
    slot.width = width && *width > 0 ? *width : 0;
  }
  if (slot.name.empty() || !known || parts.size() > 3 || slot.width < 1)
    return Status::invalid_argument(
        "slot '{}': expected NAME:int64 or NAME:float32, and of a dense slot its width, as in dense:float32:13", word);
  return slot;
}

}  // namespace

Result<ConvertCount> text_to_parquet(const std::string& text, const std::string& parquet, const ConvertOptions& options) {
  RETURN_IF_ERROR(check_output(text, parquet));
  const std::vector<SlotSpec> slots = options.criteo ? criteo_columns() : options.slots;
  RETURN_IF_ERROR(check_slots(slots));
  ASSIGN_OR_RETURN(ColumnFiles * files, column_files());
  ArrowOwned<ArrowSchema> schema = arrow_schema(slots);
  ASSIGN_OR_RETURN(Temporary written, begin_output(parquet));
  ASSIGN_OR_RETURN(const auto writer, files->create_parquet(written.path().string(), schema.get(), options.write));
  DatasetOptions dataset{.slots = slots, .files = {text}, .max_bad_lines = options.max_bad_lines, .criteo = options.criteo};
  dataset.format = FileFormat::text;
  ASSIGN_OR_RETURN(const ConvertCount count, each_batch(std::move(dataset), [&](Batch batch, int64_t) {
                     ArrowOwned<ArrowArray> rows = arrow_rows(std::move(batch), slots);
                     return writer->write(rows.get());
                   }));
  RETURN_IF_ERROR(writer->close());
  RETURN_IF_ERROR(put_into_place(written, parquet));
  return count;
}

Result<ConvertCount> table_to_text(const std::string& table, const std::string& text, const ConvertOptions& options) {
  RETURN_IF_ERROR(check_output(table, text));
  DatasetOptions dataset{.slots = options.slots, .files = {table}, .max_bad_lines = options.max_bad_lines};
  dataset.columns = options.columns;
  dataset.format = is_table(dataset, table) ? FileFormat::by_name : FileFormat::parquet;
  if (dataset.slots.empty()) {
    ASSIGN_OR_RETURN(const auto file, open_column_file(table, dataset.format));
    ArrowOwned<ArrowSchema> schema;
    RETURN_IF_ERROR(file->schema(schema.fill()));
    auto slots = slots_of_table(*schema);
    if (!slots.ok()) return slots.status().with_context("{}", table);
    dataset.slots = std::move(*slots);
  }
  const std::vector<SlotSpec> slots = dataset.slots;
  ASSIGN_OR_RETURN(Temporary written, begin_output(text));
  std::string lines;
  ASSIGN_OR_RETURN(const ConvertCount count, each_batch(std::move(dataset), [&](Batch batch, int64_t before) -> Status {
                     lines.clear();
                     for (int64_t i = 0; i < batch.size; ++i)
                       RETURN_IF_ERROR(append_sample(batch, slots, i, lines).with_context("{}: row {}", table, before + i));
                     return write_all(written.fd(), lines, text);
                   }));
  RETURN_IF_ERROR(put_into_place(written, text));
  return count;
}

Result<std::vector<SlotSpec>> parse_slots(std::string_view text) {
  std::vector<SlotSpec> slots;
  for (const std::string& word : split(text, ',')) {
    ASSIGN_OR_RETURN(SlotSpec slot, parse_slot(word));
    slots.push_back(std::move(slot));
  }
  RETURN_IF_ERROR(check_slots(slots));
  return slots;
}

Result<std::vector<SlotSpec>> slots_of_table(const ArrowSchema& schema) {
  std::vector<SlotSpec> slots;
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowSchema& field = *schema.children[i];
    const std::string_view format = field.format;
    const bool list = format == "+l" || format == "+L" || format.starts_with("+w:");
    const ArrowSchema* values = list ? field.children[0] : &field;
    if (values->dictionary != nullptr) values = values->dictionary;
    const auto kind = arrow_kind(values->format);
    if (!kind) return Status::invalid_argument("column '{}' has no numbers; name the columns to take (--slots)", field.name);
    SlotSpec slot{.name = field.name, .type = is_integer(*kind) ? SlotType::int64 : SlotType::float32};
    slot.dense = format.starts_with("+w:") || (!list && slot.type == SlotType::float32);
    if (format.starts_with("+w:")) slot.width = parse_integer(format.substr(3)).value_or(0);
    slots.push_back(std::move(slot));
  }
  RETURN_IF_ERROR(check_slots(slots));
  return slots;
}

}  // namespace argosy::data
