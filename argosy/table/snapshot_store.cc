#include "argosy/table/snapshot_store.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/table/snapshot_part.h"
#include "argosy/table/snapshot_writer.h"

namespace argosy::table {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSnapshotPrefix = "snapshot-";

std::optional<uint64_t> number_in_name(std::string_view name) {
  if (!name.starts_with(kSnapshotPrefix)) return std::nullopt;
  name.remove_prefix(kSnapshotPrefix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  // One spelling a number, so that numbered_snapshot() finds it again.
  const bool good = error == std::errc() && end == name.data() + name.size() && (name.size() == 1 || name.front() != '0');
  return good ? std::optional(number) : std::nullopt;
}

Status remove_snapshot(const fs::path& snapshot, std::optional<OneServer> only) {
  std::error_code error;
  if (!only) {
    fs::remove_all(snapshot, error);
  } else {
    fs::remove_all(server_folder(snapshot, only->server, only->servers), error);
    std::error_code others_have_parts_in_it;
    fs::remove(snapshot, others_have_parts_in_it);
  }
  if (!error) return {};
  return Status::unavailable("cannot remove the old snapshot '{}': {}", snapshot.string(), error.message());
}

}  // namespace

fs::path numbered_snapshot(const fs::path& root, uint64_t number) { return root / fmt::format("{}{}", kSnapshotPrefix, number); }

Result<std::vector<uint64_t>> list_snapshots(const fs::path& root) {
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator entries(root, error), end; !error && entries != end; entries.increment(error)) {
    if (const auto number = number_in_name(entries->path().filename().string())) numbers.push_back(*number);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return Status::unavailable("cannot read the folder of snapshots '{}': {}", root.string(), error.message());
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<std::optional<Snapshot>> latest_snapshot(const fs::path& root, std::optional<OneServer> only) {
  ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, list_snapshots(root));
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    const fs::path folder = numbered_snapshot(root, *number);
    auto snapshot = Snapshot::open(folder, only);
    const Status status = snapshot.ok() ? snapshot->verify() : snapshot.status();
    if (status.ok()) return std::optional(std::move(*snapshot));
    log_warning("snapshot '{}' is passed over: {}", folder.string(), status.message());
  }
  return std::optional<Snapshot>();
}

Status keep_newest_snapshots(const fs::path& root, uint32_t keep, std::optional<OneServer> only) {
  ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, list_snapshots(root));
  std::set<std::string> needed;
  uint64_t oldest_kept = 0;
  uint32_t kept = 0;
  for (auto number = numbers.rbegin(); number != numbers.rend() && kept < keep; ++number) {
    const auto snapshot = Snapshot::open(numbered_snapshot(root, *number), only);
    if (!snapshot.ok()) continue;  // perhaps being written: newer ones stay, older ones go with their age
    for (std::string& name : snapshot->chain()) needed.insert(std::move(name));
    oldest_kept = *number;
    ++kept;
  }
  if (kept < keep) return {};
  for (const uint64_t number : numbers) {
    const fs::path folder = numbered_snapshot(root, number);
    if (number < oldest_kept && !needed.contains(folder.filename().string())) RETURN_IF_ERROR(remove_snapshot(folder, only));
  }
  return {};
}

Status publish_snapshot(const fs::path& written, const fs::path& target) {
  RETURN_IF_ERROR(Snapshot::open(written).status());
  RETURN_IF_ERROR(check_only_snapshot(written));
  RETURN_IF_ERROR(check_only_snapshot(target));
  std::error_code error;
  const bool replaces = fs::exists(target, error);
  if (::renameat2(AT_FDCWD, written.c_str(), AT_FDCWD, target.c_str(), replaces ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0) {
    return system_error("cannot move the snapshot to", target);
  }
  RETURN_IF_ERROR(sync_folder(folder_beside(target, ".")));
  return replaces ? remove_snapshot(written, {}) : Status();
}

}  // namespace argosy::table
