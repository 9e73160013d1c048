#include "argosy/inspect/saved_tensors.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "argosy/base/file.h"
#include "argosy/graph/model_files.h"
#include "argosy/graph/wire.h"

namespace argosy::inspect {
namespace fs = std::filesystem;

SavedTensors SavedTensors::in_folder(fs::path folder, std::vector<std::string> names) {
  SavedTensors saved;
  saved.path_ = std::move(folder);
  saved.names_ = std::move(names);
  std::sort(saved.names_.begin(), saved.names_.end());
  return saved;
}

SavedTensors SavedTensors::in_file(fs::path combined, std::vector<std::string> names) {
  SavedTensors saved = in_folder(std::move(combined), std::move(names));
  saved.combined_ = true;
  return saved;
}

Status SavedTensors::each(const std::function<void(const std::string&, const graph::TensorFile&)>& look) const {
  std::string bytes;
  if (combined_) {
    ASSIGN_OR_RETURN(bytes, read_file(path_));
  }
  graph::TensorFileReader reader(bytes);
  for (const std::string& name : names_) {
    if (combined_) {
      if (reader.done()) return Status::not_found("'{}' ends before '{}'", path_.string(), name);
      const auto tensor = reader.next();
      if (!tensor.ok()) return tensor.status().with_context("'{}', '{}'", path_.string(), name);
      look(name, *tensor);
      continue;
    }
    ASSIGN_OR_RETURN(bytes, read_file(path_ / name));
    const auto tensor = graph::decode_tensor(bytes);
    if (!tensor.ok()) return tensor.status().with_context("'{}'", (path_ / name).string());
    look(name, *tensor);
  }
  return {};
}

namespace {

constexpr int kDepth = 3;              // of folders in a folder of parameters: names may have some
constexpr size_t kMaxFiles = 100'000;  // a folder with more entries is none of parameters
constexpr uint64_t kMaxLevels = 8;     // of sequences, in what is taken for a tensor's beginning

// Whether a file begins as a tensor does, by its first bytes alone: its format's version, which is 0, and a number of levels.
bool begins_as_tensor(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error || size == 0) return false;  // files of the system that wait for their reader have no size
  std::ifstream stream(file, std::ios::binary);
  uint32_t version = 1;
  uint64_t levels = 0;
  stream.read(reinterpret_cast<char*>(&version), sizeof version);
  stream.read(reinterpret_cast<char*>(&levels), sizeof levels);
  return stream.good() && version == 0 && levels <= kMaxLevels;
}

}  // namespace

bool is_tensor_file(const fs::path& file) {
  if (!begins_as_tensor(file)) return false;
  const auto bytes = read_file(file);
  return bytes.ok() && graph::decode_tensor(*bytes).ok();
}

namespace {

// The tensor files in a folder; none where it is too large to be one of parameters.
std::vector<std::string> tensor_files_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  size_t seen = 0;
  for (auto entry = fs::recursive_directory_iterator(folder, error); entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (error || ++seen > kMaxFiles) return {};
    if (entry.depth() >= kDepth) entry.disable_recursion_pending();
    const std::string name = entry->path().lexically_relative(folder).string();
    if (entry->is_regular_file(error) && !name.starts_with("__") && is_tensor_file(entry->path())) names.push_back(name);
  }
  return names;
}

Result<SavedModelFiles> open_program(const graph::ModelFiles& files) {
  ASSIGN_OR_RETURN(const std::string bytes, read_file(files.model));
  auto program = graph::parse_program(bytes);
  if (!program.ok()) return program.status().with_context("'{}'", files.model.string());
  const fs::path pickled = fs::path(files.model).replace_extension(".pdparams");
  if (files.params.empty() && files.model.extension() == ".pdmodel" && fs::is_regular_file(pickled))
    return SavedModelFiles{files.model, *program, SavedTensors(), pickled};
  std::vector<std::string> names;
  for (const graph::VarDesc* variable : (*program)->persistables()) names.push_back(variable->name);
  const fs::path folder = files.model.has_parent_path() ? files.model.parent_path() : fs::path(".");
  return SavedModelFiles{files.model, *program,
                         files.params.empty() ? SavedTensors::in_folder(folder, std::move(names))
                                              : SavedTensors::in_file(files.params, std::move(names))};
}

}  // namespace

Result<SavedModelFiles> open_saved(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error) && is_tensor_file(path))
    return SavedModelFiles{
        path, nullptr,
        SavedTensors::in_folder(path.has_parent_path() ? path.parent_path() : fs::path("."), {path.filename().string()})};
  const auto files = graph::ModelFiles::find(path);
  if (files.ok()) return open_program(*files);
  if (fs::is_directory(path, error)) {
    auto names = tensor_files_in(path);
    if (!names.empty()) return SavedModelFiles{path, nullptr, SavedTensors::in_folder(path, std::move(names))};
  }
  return files.status();
}

}  // namespace argosy::inspect
