#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::ps {

// Below which folders a server writes snapshots on request, and where not: its own log, snapshots and cold rows. Immutable,
// so safe to share between threads.
class SnapshotRoots {
 public:
  // No roots: the working directory and `directory`, which is the server's own folder, or empty.
  SnapshotRoots(std::vector<std::filesystem::path> roots, std::filesystem::path directory);

  // The folder with symbolic links and ".." resolved. permission_denied names it and the roots where it lies outside of them, or
  // in what a server keeps for itself; invalid_argument where it can be no folder.
  Result<std::filesystem::path> resolve(const std::string& folder) const;

 private:
  std::vector<std::filesystem::path> roots_;  // resolved
  std::filesystem::path own_;                 // resolved: the server's own; beside it are those of others. Empty: none
};

}  // namespace argosy::ps
