#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "argosy/base/status.h"

// What servers keep, and where: settings of which one needs another. Launchers look at them before they start anything, servers
// when they are started without one.
namespace argosy {

struct KeptState {
  std::filesystem::path directory;  // empty: none
  std::string durability;           // none, snapshot, wal, wal_sync; empty or auto: wal with a directory, none without
  uint64_t mem_limit_bytes = 0;
  bool replicas = false;
  std::string followers;  // as the setting lists them
};

// By the text of the settings alone.
Status check_kept_state(const KeptState& state);

// Followers are listed only where servers have some.
Status check_followers_wanted(bool replicas, const std::string& followers);

// Whether `directory` is a folder of this machine, or one can be made there: an error where it, or what it lies in, is a file.
// Empty: no error.
Status check_state_folder(const std::filesystem::path& directory);

}  // namespace argosy
