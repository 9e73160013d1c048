#include "argosy/inspect/server_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "argosy/base/run_record.h"
#include "argosy/base/text.h"
#include "argosy/inspect/snapshots.h"
#include "argosy/inspect/tensor_facts.h"
#include "argosy/table/snapshot.h"
#include "argosy/table/snapshot_store.h"

namespace argosy::inspect {
namespace fs = std::filesystem;
namespace {

std::string snapshot_text(const table::Snapshot& snapshot) {
  const std::string whose = snapshot.states().size() == snapshot.servers() ? "" : "the part of one of ";
  std::string text = fmt::format("snapshot {}: {}, step {}, {}{} server{}\n", snapshot.folder().string(),
                                 table::kind_name(snapshot.kind()), with_thousands(static_cast<int64_t>(snapshot.step())), whose,
                                 snapshot.servers(), snapshot.servers() == 1 ? "" : "s");
  const auto chain = snapshot.chain();
  if (chain.size() > 1) text += fmt::format("  builds on {}\n", join({chain.begin(), chain.end() - 1}, ", "));
  for (const table::SnapshotTable& one : snapshot.tables())
    fmt::format_to(std::back_inserter(text), "  {:<32} {} rows or elements  {}\n", one.name,
                   with_thousands(static_cast<int64_t>(one.count)), bytes_text(one.bytes));
  return text;
}

// Of one server that is known, or with whatever parts are there.
Result<table::Snapshot> opened(const fs::path& path, std::optional<table::OneServer> only) {
  if (only) return table::Snapshot::open(path, only);
  ASSIGN_OR_RETURN(auto found, find_snapshot(path));
  if (found) return std::move(*found);
  return table::Snapshot::open(path);
}

// The snapshots of one server's directory, or of a folder of them.
Result<std::string> snapshots_text(const fs::path& folder, std::optional<table::OneServer> only) {
  std::string text;
  ASSIGN_OR_RETURN(const auto numbers, table::list_snapshots(folder));
  for (const uint64_t number : numbers) {
    const fs::path path = table::numbered_snapshot(folder, number);
    const auto snapshot = opened(path, only);
    text +=
        snapshot.ok() ? snapshot_text(*snapshot) : fmt::format("snapshot {}: {}\n", path.string(), snapshot.status().message());
  }
  return text;
}

Result<std::string> server_text(const fs::path& folder, const RunRecord& record) {
  std::string text = fmt::format("server {} of {}: {}\n", record.server, record.servers, folder.string());
  text += "  " + describe_runs(std::vector<RunRecord>{record}) + "\n";
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.is_regular_file(error)) bytes += entry.file_size(error);
  text += fmt::format("  {} batches applied, {} rows, {} on disk\n", with_thousands(static_cast<int64_t>(record.batches)),
                      with_thousands(static_cast<int64_t>(record.rows)), bytes_text(bytes));
  const table::OneServer only{static_cast<uint32_t>(record.server), static_cast<uint32_t>(record.servers)};
  for (const fs::path& place : {folder, folder / "snapshots"}) {
    if (!fs::is_directory(place, error)) continue;
    ASSIGN_OR_RETURN(const std::string snapshots, snapshots_text(place, only));
    text += snapshots;
  }
  return text;
}

}  // namespace

Result<std::optional<std::string>> server_state_text(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::optional<std::string>();
  std::string text;
  for (int server = 0;; ++server) {  // a job's directory
    const fs::path folder = server_folder_in(path, server);
    if (!fs::is_directory(folder, error)) break;
    ASSIGN_OR_RETURN(const auto record, read_run_record(folder));
    if (!record) continue;
    ASSIGN_OR_RETURN(const std::string one, server_text(folder, *record));
    text += one;
  }
  if (!text.empty()) return std::optional(text);
  ASSIGN_OR_RETURN(const auto record, read_run_record(path));
  if (record) {
    ASSIGN_OR_RETURN(text, server_text(path, *record));
    return std::optional(text);
  }
  ASSIGN_OR_RETURN(const auto snapshot, find_snapshot(path));
  if (snapshot) return std::optional(snapshot_text(*snapshot));
  ASSIGN_OR_RETURN(text, snapshots_text(path, {}));
  return text.empty() ? std::optional<std::string>() : std::optional(text);
}

// A directory is not one state but several: the newest snapshot in it is what can be compared.
Result<std::optional<Difference>> compare_server_states(const fs::path& a, const fs::path& b) {
  for (const fs::path& path : {a, b}) {
    std::error_code error;
    if (!fs::exists(path, error)) return std::optional<Difference>();
    ASSIGN_OR_RETURN(const auto snapshot, find_snapshot(path));
    if (snapshot) continue;
    ASSIGN_OR_RETURN(const auto state, server_state_text(path));
    if (!state) continue;
    return Status::invalid_argument(
        "'{}' is a directory of servers, or of snapshots; --diff compares single snapshots, such as '{}'", path.string(),
        (path / "server-0" / "snapshots" / "snapshot-1").string());
  }
  return compare_snapshots(a, b);
}

}  // namespace argosy::inspect
