#include "argosy/launch/process/interpreter.h"

#include <unistd.h>

#include <filesystem>

#include "argosy/base/env.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;

// The folder of a program as it was started, links not followed; empty where it is not found.
fs::path folder_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return fs::path(program).parent_path();
  for (const std::string& folder : split(env_text("PATH").value_or(""), ':')) {
    if (::access((fs::path(folder) / program).c_str(), X_OK) == 0) return folder;
  }
  return {};
}

}  // namespace

std::string find_python(const std::string& program) {
  if (const auto given = env_text("ARGOSY_PYTHON")) return *given;
  const fs::path folder = folder_of(program);
  if (const fs::path beside = folder / "python3"; !folder.empty() && ::access(beside.c_str(), X_OK) == 0) return beside.string();
  return "python3";
}

}  // namespace argosy::launch
