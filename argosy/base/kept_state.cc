#include "argosy/base/kept_state.h"

#include <system_error>

namespace argosy {

Status check_followers_wanted(bool replicas, const std::string& followers) {
  if (replicas || followers.empty()) return {};
  return Status::invalid_argument("followers is '{}', and replicas is 0; set replicas=1 to have them, or leave followers out",
                                  followers);
}

Status check_kept_state(const KeptState& state) {
  const bool automatic = state.durability.empty() || state.durability == "auto";
  const std::string by_directory = state.directory.empty() ? "none" : "wal";
  const std::string& durability = automatic ? by_directory : state.durability;
  if (durability != "none" && state.directory.empty()) {
    return Status::invalid_argument(
        "durability is {}; that needs a directory to keep the tables in: give one (--directory), or leave durability out",
        durability);
  }
  if (state.replicas && !durability.starts_with("wal")) {
    return Status::invalid_argument(
        "replicas is 1 with durability={}{}; each of a server's two processes keeps a log of its own: give a directory "
        "(--directory) and durability=wal or wal_sync",
        durability, state.directory.empty() ? " and no directory" : "");
  }
  if (state.mem_limit_bytes > 0 && state.directory.empty()) {
    return Status::invalid_argument(
        "mem_limit is {} bytes; that needs a directory for the rows beyond it: give one (--directory), or leave mem_limit out",
        state.mem_limit_bytes);
  }
  return check_followers_wanted(state.replicas, state.followers);
}

Status check_state_folder(const std::filesystem::path& directory) {
  if (directory.empty()) return {};
  std::error_code error;
  std::filesystem::path at = std::filesystem::absolute(directory, error).lexically_normal();
  while (at.has_relative_path()) {
    const auto type = std::filesystem::status(at, error).type();
    if (type == std::filesystem::file_type::not_found) {
      at = at.parent_path();
      continue;
    }
    if (type == std::filesystem::file_type::directory || type == std::filesystem::file_type::none) return {};
    return Status::invalid_argument("directory is '{}', and '{}' is a file; expected a folder, or where one can be made",
                                    directory.string(), at.string());
  }
  return {};
}

}  // namespace argosy
