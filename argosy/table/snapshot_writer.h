#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "argosy/base/disk_file.h"
#include "argosy/base/file.h"
#include "argosy/base/status.h"
#include "argosy/table/snapshot_format.h"

namespace argosy::table {

// Writes one server's part of a snapshot: the folder server-<i>-of-<n> under the snapshot's own. The folder appears at commit(),
// whole and on the disk, in place of an older part; without commit() nothing of it stays. Nothing but parts of snapshots is ever
// replaced: a folder that holds anything else is refused by name (check_only_snapshot). Thread-compatible.
class SnapshotWriter {
 public:
  // `part_bytes`: from this size on the next chunk begins a new file.
  static Result<std::unique_ptr<SnapshotWriter>> open(const std::filesystem::path& snapshot, SnapshotInfo info,
                                                      uint64_t part_bytes = uint64_t{1} << 30);

  // A reader sees the chunks in the order in which they are added. `invalid_argument` for a chunk that the format does not
  // take; it is then left out. After any other error the snapshot cannot be committed.
  Status add(const SnapshotChunk& chunk);

  // `state` is what the server needs besides its tables and chunks of kind state; its form is the server's own.
  Status commit(std::string_view state);

 private:
  SnapshotWriter(std::filesystem::path snapshot, FolderWriter folder, SnapshotInfo info, uint64_t part_bytes)
      : snapshot_(std::move(snapshot)), folder_(std::move(folder)), part_bytes_(part_bytes) {
    manifest_.info = std::move(info);
  }
  Status begin_part();
  Status write(const SnapshotChunk& chunk);

  const std::filesystem::path snapshot_;
  FolderWriter folder_;
  const uint64_t part_bytes_;
  SnapshotManifest manifest_;
  std::map<std::string, SnapshotTable, std::less<>> tables_;
  std::unique_ptr<DiskFile> file_;  // of the last part
  uint64_t flushed_ = 0;            // of that file: how far the kernel was told to begin to write
  Status failed_;
};

// The folder `name` in the folder that holds the snapshot.
std::filesystem::path folder_beside(const std::filesystem::path& snapshot, const std::string& name);
std::filesystem::path server_folder(const std::filesystem::path& snapshot, uint32_t server, uint32_t servers);

}  // namespace argosy::table
