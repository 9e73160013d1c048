#pragma once

#include <filesystem>
#include <string>

#include "argosy/base/status.h"
#include "argosy/table/snapshot_format.h"

// The files of one server's part of a snapshot, read.
namespace argosy::table {

// The manifest of a folder server-<i>-of-<n>. Also looks whether the files that it lists are there with their sizes.
Result<SnapshotManifest> open_server_folder(const std::filesystem::path& folder);

Result<std::string> read_state(const std::filesystem::path& folder, const SnapshotManifest& manifest);

// failed_precondition, naming what was found, where a folder that is there holds anything but parts of a snapshot, whole or being
// written: it is somebody else's and must not be written to, replaced or removed. A folder that is not there, or is empty, is
// fine.
Status check_only_snapshot(const std::filesystem::path& snapshot);

Status read_part_file(const std::filesystem::path& folder, const SnapshotPart& part, const SnapshotVisitor& visitor);

}  // namespace argosy::table
