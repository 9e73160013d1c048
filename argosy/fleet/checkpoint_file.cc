#include "argosy/base/file.h"
#include "argosy/base/uri.h"
#include "argosy/fleet/checkpoint_place.h"

// In a build without programs.
namespace argosy::fleet {

Status check_checkpoint_place(const std::string& path) {
  if (!is_uri(local_path(path))) return {};
  RETURN_IF_ERROR(check_no_secrets(path));
  return Status::unimplemented("'{}': this build knows no object stores (ARGOSY_PROGRAMS=OFF); name a file of this machine",
                               path);
}

Result<std::string> read_checkpoint(const std::string& path) { return read_file(local_path(path)); }
Status write_checkpoint(const std::string& path, std::string_view bytes) {
  return write_file_atomically(local_path(path), bytes);
}

}  // namespace argosy::fleet
