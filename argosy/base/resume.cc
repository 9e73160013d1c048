#include "argosy/base/resume.h"

#include "argosy/base/env_variable.h"
#include "argosy/base/file.h"
#include "argosy/base/uri.h"

namespace argosy {
namespace fs = std::filesystem;

Status note_checkpoint(const fs::path& checkpoint) {
  const std::optional<EnvVariable> file = variable("ARGOSY_CHECKPOINT_FILE");
  if (!file) return {};
  std::error_code error;
  const fs::path whole = is_uri(checkpoint.string()) ? checkpoint : fs::absolute(checkpoint, error);
  if (error) return Status::unavailable("cannot tell the whole path of '{}': {}", checkpoint.string(), error.message());
  return write_file_atomically(file->value, whole.string()).with_context("ARGOSY_CHECKPOINT_FILE");
}

std::string checkpoint_to_resume() {
  const std::optional<EnvVariable> path = variable("ARGOSY_RESUME");
  return path ? path->value : "";
}

Result<std::string> noted_checkpoint(const fs::path& file) {
  auto path = read_file(file);
  if (!path.ok() && path.status().code() == Code::not_found) return std::string();
  return path;
}

}  // namespace argosy
