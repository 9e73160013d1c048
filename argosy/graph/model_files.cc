#include "argosy/graph/model_files.h"

#include <algorithm>
#include <vector>

#include "argosy/base/text.h"

namespace argosy::graph {
namespace fs = std::filesystem;
namespace {

constexpr const char* kProgram2 = ".pdmodel";  // PaddlePaddle 2.x
constexpr const char* kParams2 = ".pdiparams";

fs::path if_there(fs::path file) { return fs::is_regular_file(file) ? file : fs::path(); }

// The file of all parameters that belongs to a program's file by its name.
fs::path params_beside(const fs::path& model) {
  if (model.extension() == kProgram2) return if_there(fs::path(model).replace_extension(kParams2));
  if (model.filename() == "model") return if_there(model.parent_path() / "params");
  return if_there(model.parent_path() / "__params__");
}

std::vector<std::string> programs2_in(const fs::path& folder) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == kProgram2) found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

Result<ModelFiles> find_in_folder(const fs::path& folder) {
  for (const char* name : {"__model__", "model"})
    if (fs::is_regular_file(folder / name)) return ModelFiles{folder / name, params_beside(folder / name)};
  const auto programs = programs2_in(folder);
  if (programs.size() == 1) return ModelFiles{folder / programs[0], params_beside(folder / programs[0])};
  if (programs.size() > 1)
    return Status::invalid_argument("'{}' has several models ({}); name one of them", folder.string(), join(programs, ", "));
  return Status::not_found(
      "'{}' has no model: there is no file __model__, model or *.pdmodel in it; save_inference_model writes one, while "
      "save_persistables and checkpoints have no program to predict with",
      folder.string());
}

}  // namespace

Result<ModelFiles> ModelFiles::find(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return find_in_folder(path);
  if (fs::is_regular_file(path, error)) return ModelFiles{path, params_beside(path)};
  if (const fs::path program = path.string() + kProgram2; fs::is_regular_file(program, error))
    return ModelFiles{program, params_beside(program)};
  return Status::not_found("'{}' is no model: there is no such folder or file, and no '{}{}'", path.string(), path.string(),
                           kProgram2);
}

}  // namespace argosy::graph
