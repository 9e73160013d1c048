#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/table/snapshot.h"

// The snapshots that a job takes from time to time: snapshot-<number> in one folder, numbers rising. Where servers share no
// disk, or each takes snapshots of its own, every call is about one server's parts only.
namespace argosy::table {

std::filesystem::path numbered_snapshot(const std::filesystem::path& root, uint64_t number);

// The numbers that are there, whole or not, in order. None if there is no such folder.
Result<std::vector<uint64_t>> list_snapshots(const std::filesystem::path& root);

// The newest snapshot that is whole, read and compared with its checksums; nothing if there is none. Each that is passed
// over is told in the program's log, with the reason.
Result<std::optional<Snapshot>> latest_snapshot(const std::filesystem::path& root, std::optional<OneServer> only = {});

// Removes what is older than the newest `keep` snapshots, but for those that a delta among them builds on. Only complete ones
// count, so call it after a new one is committed. REQUIRES: keep > 0.
Status keep_newest_snapshots(const std::filesystem::path& root, uint32_t keep, std::optional<OneServer> only = {});

// Moves a snapshot whose parts are all committed to its final name, in one step, in place of one that is there. So a folder
// that users name themselves changes from the old snapshot to the new one although several servers write it. Where `target` or
// `written` holds anything but parts of snapshots nothing is changed (check_only_snapshot).
Status publish_snapshot(const std::filesystem::path& written, const std::filesystem::path& target);

}  // namespace argosy::table
