#pragma once

#include <filesystem>
#include <optional>

#include "argosy/base/temporary.h"
#include "argosy/ps/server/primary_link.h"
#include "argosy/table/snapshot.h"

namespace argosy::ps {

// The newest snapshot of a server that is followed, as files of this machine for as long as it lives. Movable; thread-compatible.
class SnapshotCopy {
 public:
  // Copies it into a folder in `directory`. `unavailable`: there is none yet, or newer ones came faster than they could be
  // copied.
  static Result<SnapshotCopy> take(PrimaryLink& primary, const std::filesystem::path& directory);

  const table::Snapshot& snapshot() const { return snapshot_; }
  const wire::StateImage& head() const { return head_; }  // of the state: all but its pieces

 private:
  SnapshotCopy(Temporary folder, table::Snapshot snapshot, wire::StateImage head)
      : folder_(std::move(folder)), snapshot_(std::move(snapshot)), head_(std::move(head)) {}

  Temporary folder_;
  table::Snapshot snapshot_;
  wire::StateImage head_;
};

}  // namespace argosy::ps
