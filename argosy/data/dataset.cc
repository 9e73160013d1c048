#include "argosy/data/dataset.h"

#include <algorithm>
#include <filesystem>

#include "argosy/base/uri.h"
#include "argosy/data/message_log.h"
#include "argosy/data/pipe.h"
#include "argosy/data/store_uri.h"

namespace argosy::data {
namespace {

Status check_files(const std::vector<std::string>& files) {
  if (files.empty())
    return Status::invalid_argument(
        "the dataset has no files: set_filelist was not called, or its list is empty. A job with fewer files than workers needs "
        "fewer workers, or files that are handed out (set_file_handout)");
  std::string missing;
  int count = 0;
  constexpr int kNamed = 5;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (is_remote_path(file) || is_message_range(file)) continue;
    if (is_uri(file) && uri_scheme(file) != "file") {
      RETURN_IF_ERROR(check_store_uri(file));
      continue;
    }
    if (std::filesystem::exists(local_path(file), ignored)) continue;
    if (++count <= kNamed) missing += fmt::format("{}'{}'", count > 1 ? ", " : "", file);
  }
  if (count == 0) return {};
  return Status::not_found("{} of {} data files do not exist: {}{}", count, files.size(), missing, count > kNamed ? ", …" : "");
}

const char* format_name(FileFormat format) {
  switch (format) {
    case FileFormat::by_name: return "None";
    case FileFormat::text: return "text";
    case FileFormat::json: return "json";
    case FileFormat::parquet: return "parquet";
    case FileFormat::arrow: return "arrow";
  }
  return "";
}

bool has_columns(const DatasetOptions& options, const std::string& file) {
  return is_table(options, file) || (is_message_range(file) && options.format == FileFormat::arrow);
}

// A format that the source of the data does not have.
Status check_source(const DatasetOptions& options) {
  if (options.table != nullptr && options.format != FileFormat::by_name)
    return Status::invalid_argument("set_format(\"{}\") is for files, and the dataset has a table (set_table); leave one out",
                                    format_name(options.format));
  if (options.format != FileFormat::parquet) return {};
  const auto message = std::ranges::find_if(options.files, is_message_range);
  if (message == options.files.end()) return {};
  return Status::unimplemented(
      "set_format(\"{}\") is for files, and '{}' has messages, each of which is a line of MultiSlot or Criteo's text, an object "
      "(set_format(\"json\")) or a stream of Arrow's IPC format (set_format(\"arrow\")); a pipe command makes lines of others",
      format_name(options.format), *message);
}

// What is for text or for tables only, where it would be taken and do nothing.
Status check_format(const DatasetOptions& options) {
  RETURN_IF_ERROR(check_source(options));
  const bool tables = options.table != nullptr ||
                      std::ranges::any_of(options.files, [&](const std::string& file) { return has_columns(options, file); });
  if (options.format == FileFormat::json && (options.criteo.has_value() || options.corpus.has_value()))
    return Status::invalid_argument("lines are JSON (set_format) or {}; leave one out",
                                    options.criteo.has_value() ? "Criteo's (set_criteo)" : "sentences (set_corpus)");
  if (options.format == FileFormat::json) return {};
  if (!tables) {
    if (options.columns.columns.empty() && options.columns.defaults.empty()) return {};
    return Status::invalid_argument("set_columns is for tables (Parquet, Arrow, DataFrames), and the dataset reads text: '{}'",
                                    options.files.front());
  }
  if (options.criteo.has_value() || options.corpus.has_value())
    return Status::invalid_argument("{} is for text; the slots of a table are its columns, by name",
                                    options.criteo.has_value() ? "set_criteo" : "set_corpus");
  if (is_identity_command(options.pipe_command)) return {};
  return Status::invalid_argument(
      "a pipe command is for text, and '{}' would get a table; leave set_pipe_command out, or set_format(\"text\")",
      options.pipe_command);
}

}  // namespace

bool is_table(const DatasetOptions& options, const std::string& file) {
  if (is_message_range(file)) return false;
  if (options.format != FileFormat::by_name) return options.format == FileFormat::parquet || options.format == FileFormat::arrow;
  if (!is_identity_command(options.pipe_command)) return false;
  const std::string ending = std::filesystem::path(is_uri(file) ? without_query(file) : file).extension().string();
  return ending == ".parquet" || ending == ".arrow" || ending == ".feather" || ending == ".ipc";
}

Status check_options(const DatasetOptions& options) {
  RETURN_IF_ERROR(check_slots(options.slots));
  if (options.batch_size < 1) return Status::invalid_argument("batch_size is {}, expected at least 1", options.batch_size);
  if (options.threads < 1) return Status::invalid_argument("thread count is {}, expected at least 1", options.threads);
  if (options.max_bad_lines < 0)
    return Status::invalid_argument("max_bad_lines is {}, expected 0 or more", options.max_bad_lines);
  if (options.table != nullptr && (!options.files.empty() || options.handout != nullptr))
    return Status::invalid_argument("the dataset has a table (set_table) and {}; it reads one of them",
                                    options.files.empty() ? "a hand-out of files" : "a list of files");
  if (options.table == nullptr) RETURN_IF_ERROR(check_files(options.files));
  return check_format(options);
}

}  // namespace argosy::data
