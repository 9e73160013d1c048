#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/graph/program.h"
#include "argosy/graph/tensor_file.h"

namespace argosy::inspect {

// The tensors that lie at a path, by name, in the order of their names. A file is read when its tensor is looked at, one at a
// time.
class SavedTensors {
 public:
  // One file per name in `folder`, or all in `combined`, in the order of the names.
  static SavedTensors in_folder(std::filesystem::path folder, std::vector<std::string> names);
  static SavedTensors in_file(std::filesystem::path combined, std::vector<std::string> names);

  const std::vector<std::string>& names() const { return names_; }
  // Calls `look` with each; a tensor that is missing or damaged is an error that names it.
  Status each(const std::function<void(const std::string& name, const graph::TensorFile& tensor)>& look) const;

 private:
  std::filesystem::path path_;
  bool combined_ = false;
  std::vector<std::string> names_;
};

// Whether a file's bytes are a tensor's.
bool is_tensor_file(const std::filesystem::path& file);

// What is saved at a path: a program, where it is a model, and tensors.
struct SavedModelFiles {
  std::filesystem::path path;
  std::shared_ptr<graph::Program> program;  // null: a folder of tensors, or one tensor
  SavedTensors tensors;
  std::filesystem::path pickled = {};  // the file with the parameters where fluid.save wrote it, which `tensors` has not
};
// A model (graph/model_files.h), a folder of tensor files, or a tensor file.
Result<SavedModelFiles> open_saved(const std::filesystem::path& path);

}  // namespace argosy::inspect
