#include "argosy/data/dataset.h"

#include <algorithm>
#include <filesystem>

#include "argosy/data/message_log.h"
#include "argosy/data/pipe.h"

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
    if (is_remote_path(file) || is_message_range(file) || std::filesystem::exists(file, ignored)) continue;
    if (++count <= kNamed) missing += fmt::format("{}'{}'", count > 1 ? ", " : "", file);
  }
  if (count == 0) return {};
  return Status::not_found("{} of {} data files do not exist: {}{}", count, files.size(), missing, count > kNamed ? ", …" : "");
}

// What is for text or for tables only, where it would be taken and do nothing.
Status check_format(const DatasetOptions& options) {
  const bool tables = options.table != nullptr ||
                      std::ranges::any_of(options.files, [&](const std::string& file) { return is_table(options, file); });
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
  const std::string ending = std::filesystem::path(file).extension().string();
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
