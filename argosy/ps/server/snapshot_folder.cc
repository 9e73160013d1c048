#include "argosy/ps/server/snapshot_folder.h"

namespace argosy::ps {

// A server has completed its part. (A process that died in its first snapshot leaves a folder without one.)
bool is_snapshot(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with("server-") && entry.path().extension().empty()) return true;
  }
  return false;
}

}  // namespace argosy::ps
