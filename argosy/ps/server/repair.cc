#include "argosy/ps/server/repair.h"

#include <algorithm>
#include <map>

#include "argosy/base/text.h"
#include "argosy/ps/server/recovery.h"
#include "argosy/ps/server/server_journal.h"
#include "argosy/ps/server/server_limits.h"
#include "argosy/table/log_repair.h"
#include "argosy/table/snapshot_store.h"

namespace argosy::ps {
namespace fs = std::filesystem;

// One server's directory. Thread-compatible.
class LogRepair {
 public:
  explicit LogRepair(fs::path directory) : log_(directory / "log") { report_.directory = std::move(directory); }

  Result<RepairReport> run(bool set_aside) {
    std::error_code error;
    if (!fs::exists(log_, error)) {
      report_.notes.push_back("there is no log");
      return report_;
    }
    ASSIGN_OR_RETURN(const Fd lock, table::lock_log(log_));
    ASSIGN_OR_RETURN(segments_, table::list_segments(log_));
    RETURN_IF_ERROR(find_server());
    ServerLimits limits(options_);
    StateHolder state;
    RunGuard run("", false);
    Adoption adoption(options_, report_.directory.string(), limits, state);
    Recovery recovery(options_, report_.directory.string(), run, adoption, state);
    RETURN_IF_ERROR(recover_snapshot(recovery, adoption, state));
    for (const table::LogSegment& segment : segments_) RETURN_IF_ERROR(read(recovery, segment));
    if (set_aside) RETURN_IF_ERROR(move_problems());
    return report_;
  }

 private:
  // Which server of how many this is: a snapshot's folders say it, or a worker's hello.
  Status find_server() {
    options_.address = "";
    options_.directory = report_.directory;
    options_.durability = Durability::wal;
    ASSIGN_OR_RETURN(const auto numbers, table::list_snapshots(report_.directory / "snapshots"));
    for (const uint64_t number : numbers) {
      std::error_code error;
      for (const auto& entry : fs::directory_iterator(table::numbered_snapshot(report_.directory / "snapshots", number), error)) {
        const auto words = split(entry.path().filename().string(), '-');  // server-0-of-2
        if (words.size() != 4 || words[0] != "server" || words[2] != "of") continue;
        options_.server = static_cast<int>(parse_integer(words[1]).value_or(0));
        options_.servers = static_cast<int>(parse_integer(words[3]).value_or(1));
        return {};
      }
    }
    RETURN_IF_ERROR(find_hello());
    if (!hello_)
      return Status::data_loss("'{}' has neither a snapshot nor a worker's hello in its log", report_.directory.string());
    options_.server = static_cast<int>(hello_->server());
    options_.servers = static_cast<int>(hello_->servers());
    return {};
  }

  Status find_hello() {
    for (const table::LogSegment& segment : segments_) {
      RETURN_IF_ERROR(table::scan_segment(segment, segment.first, [&](const table::LogPiece& piece) -> Status {
        if (hello_ || !piece.problem.empty()) return {};
        const auto record = decode_record(piece.payload);
        if (!record.ok() || record->method != wire::HELLO) return {};
        if (auto hello = parse<wire::HelloRequest>(*record); hello.ok()) hello_ = std::move(*hello);
        return {};
      }));
    }
    return {};
  }

  // A server that was told its tables by its own process may have records before the first hello.
  Status recover_snapshot(Recovery& recovery, Adoption& adoption, const StateHolder& state) {
    RETURN_IF_ERROR(recovery.recover_snapshot());
    from_ = recovery.replay_from(segments_.empty() ? 0 : segments_.front().first);
    if (!state && hello_) RETURN_IF_ERROR(adoption.adopt(*hello_, report_.directory.string()));
    return {};
  }

  Status read(Recovery& recovery, const table::LogSegment& segment) {
    if (segment.end() <= from_) return {};
    return table::scan_segment(segment, from_, [&](const table::LogPiece& piece) -> Status {
      const Result<Record> record =
          piece.problem.empty() ? decode_record(piece.payload) : Result<Record>(Status::data_loss("{}", piece.problem));
      if (record.ok() && record->method == wire::SET_ASIDE) return {};
      const Status applied = record.ok() ? recovery.replay_record(*record) : record.status();
      if (applied.ok()) {
        ++report_.records;
        return {};
      }
      const bool at_the_end = &segment == &segments_.back() && piece.offset + piece.size == segment.size;
      if (at_the_end && !piece.problem.empty()) {
        report_.notes.push_back(fmt::format("the last {} bytes of {} are no whole record; the server cuts them off", piece.size,
                                            segment.path.filename().string()));
        return {};
      }
      pieces_[segment.first].push_back(piece);
      report_.problems.push_back({.file = segment.path,
                                  .position = segment.first + piece.offset,
                                  .bytes = piece.size,
                                  .what = record.ok() ? describe(*record) : "a record that cannot be read",
                                  .reason = applied.message(),
                                  .moved_to = {}});
      return {};
    });
  }

  Status move_problems() {
    for (const table::LogSegment& segment : segments_) {
      const auto pieces = pieces_.find(segment.first);
      if (pieces == pieces_.end()) continue;
      RETURN_IF_ERROR(table::set_aside(segment, pieces->second, set_aside_record));
    }
    for (LogProblem& problem : report_.problems) problem.moved_to = table::set_aside_path(log_, problem.position);
    return {};
  }

  const fs::path log_;
  ServerOptions options_;
  std::vector<table::LogSegment> segments_;
  std::optional<wire::HelloRequest> hello_;  // where there is no snapshot: the first in the log
  uint64_t from_ = 0;
  std::map<uint64_t, std::vector<table::LogPiece>> pieces_;  // that are to be moved, by their segment's first position
  RepairReport report_;
};

Result<std::vector<RepairReport>> repair(const fs::path& directory, bool set_aside) {
  std::vector<fs::path> servers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("server-")) servers.push_back(entry.path());
  }
  if (error) return Status::not_found("cannot read '{}': {}", directory.string(), error.message());
  std::ranges::sort(servers);
  if (servers.empty()) servers.push_back(directory);
  std::vector<RepairReport> reports;
  for (const fs::path& server : servers) {
    auto report = LogRepair(server).run(set_aside);
    if (!report.ok()) return report.status().with_context("'{}'", server.string());
    reports.push_back(std::move(*report));
  }
  return reports;
}

}  // namespace argosy::ps
