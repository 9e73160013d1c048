#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "argosy/base/status.h"

namespace argosy::ps {

// What one of a server's two processes keeps of its role, in the file EPOCH of its folder: so that a process that is started
// again can say how much what lies there is worth.
struct ReplicaRecord {
  uint64_t epoch = 0;
  bool primary = false;
  bool whole = false;  // of a follower: its log has all that was acknowledged in the epoch, up to the moment that it was left out
  std::string launch;  // of the launcher that started the process; empty: none did

  friend bool operator==(const ReplicaRecord&, const ReplicaRecord&) = default;
};

// Nothing: there is none. data_loss: it cannot be read.
Result<std::optional<ReplicaRecord>> read_replica_record(const std::filesystem::path& folder);
// In one step, and safe from a power cut.
Status write_replica_record(const std::filesystem::path& folder, const ReplicaRecord& record);

// Gives a folder the name <folder>.left, or with a number behind it where that is taken, so that a follower begins with an empty
// one: what another process than the primary has is worth something only where the primary's folder is lost, and a person looks
// at it. Nothing where there is none. REQUIRES: the caller has the folder's lock.
Status leave_behind(const std::filesystem::path& folder);

}  // namespace argosy::ps
