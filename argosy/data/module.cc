#include "argosy/data/module.h"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <vector>

namespace argosy::data {
namespace {

constexpr int kFoldersUp = 3;  // from a program or library of ours to the folder that has lib/

void here() {}

std::vector<std::filesystem::path> places(const std::string& library) {
  Dl_info info{};
  std::error_code error;
  std::filesystem::path folder;
  // Of a program that was found by PATH it is a name without a folder.
  if (::dladdr(reinterpret_cast<const void*>(&here), &info) != 0 && std::strchr(info.dli_fname, '/') != nullptr)
    folder = std::filesystem::canonical(info.dli_fname, error).parent_path();
  if (error || folder.empty()) folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<std::filesystem::path> found = {folder / library};
  for (int i = 0; i < kFoldersUp; ++i, folder = folder.parent_path()) found.push_back(folder / "lib" / library);
  return found;
}

}  // namespace

Result<void*> open_module(const Module& module) {
  std::string looked;
  for (const std::filesystem::path& path : places(module.library)) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      looked += (looked.empty() ? "" : ", ") + path.string();
      continue;
    }
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      return Status::failed_precondition("{}, which could not be loaded: {}; {}", module.purpose, ::dlerror(), module.remedy);
    const auto function = reinterpret_cast<void* (*)(int)>(::dlsym(library, module.function.c_str()));
    void* offered = function == nullptr ? nullptr : function(module.version);
    if (offered == nullptr)
      return Status::failed_precondition("'{}' is of another version of argosy; build or install both together", path.string());
    return offered;
  }
  return Status::failed_precondition("{}, by the module {}, which this build does not have; {}. Looked for it at {}",
                                     module.purpose, module.library, module.remedy, looked);
}

}  // namespace argosy::data
