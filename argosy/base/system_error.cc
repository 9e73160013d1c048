#include "argosy/base/system_error.h"

#include <cerrno>
#include <cstring>

namespace argosy {
namespace fs = std::filesystem;

Status system_error(std::string_view what, const fs::path& path) {
  const int code = errno;
  const std::string text = fmt::format("{} '{}': {}", what, path.string(), std::strerror(code));
  if (code == ENOENT) return Status(Code::not_found, text);
  if (code == EACCES || code == EPERM) return Status(Code::permission_denied, text);
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) return Status(Code::resource_exhausted, text);
  return Status(Code::unavailable, text);
}

}  // namespace argosy
