#include "argosy/data/dataset.h"

#include <filesystem>

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
    if (is_remote_path(file) || std::filesystem::exists(file, ignored)) continue;
    if (++count <= kNamed) missing += fmt::format("{}'{}'", count > 1 ? ", " : "", file);
  }
  if (count == 0) return {};
  return Status::not_found("{} of {} data files do not exist: {}{}", count, files.size(), missing, count > kNamed ? ", …" : "");
}

}  // namespace

Status check_options(const DatasetOptions& options) {
  RETURN_IF_ERROR(check_slots(options.slots));
  if (options.batch_size < 1) return Status::invalid_argument("batch_size is {}, expected at least 1", options.batch_size);
  if (options.threads < 1) return Status::invalid_argument("thread count is {}, expected at least 1", options.threads);
  if (options.max_bad_lines < 0)
    return Status::invalid_argument("max_bad_lines is {}, expected 0 or more", options.max_bad_lines);
  return check_files(options.files);
}

}  // namespace argosy::data
