#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/fd.h"
#include "argosy/base/status.h"

// Which run's state a server's folder holds: the file RUN in it, lines of a name and a value, and the empty file TRAINED, which
// is there before the first batch is. Launchers read what servers write.
namespace argosy {

struct RunRecord {
  std::string job;
  std::string run;       // its id; empty: not known yet, or written by a version without ids
  std::string launch;    // of the launcher that started the server; empty: none did
  std::string started;   // "2026-11-16 11:27:06 UTC"
  std::string finished;  // the same; empty: it has not
  int server = 0, servers = 1;
  int workers = 0;  // 0: not known
  // As the server last noted them, a little behind what it has.
  uint64_t passes = 0;   // that all workers have finished
  uint64_t batches = 0;  // applied; 0 only where none is in the folder's log or snapshots
  uint64_t rows = 0;     // of sparse tables, on this server

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

// The record of a server's folder. A folder with a log or snapshots but no record, as an earlier version left it, gives one that
// says nothing but its number; a folder without any of them, or none, gives nothing.
Result<std::optional<RunRecord>> read_run_record(const std::filesystem::path& folder);
// In one step, and safe from a power cut. Makes the folder where it is missing.
Status write_run_record(const std::filesystem::path& folder, const RunRecord& record);
// From now on the folder's record says that something was trained, whenever the server dies. Nothing where it does already.
// `unavailable` where it cannot be written. Thread-safe.
Status mark_trained(const std::filesystem::path& folder);

// The records of a job's directory, by server; only those in which something was trained.
Result<std::vector<RunRecord>> find_old_runs(const std::filesystem::path& directory);
// The folder of one server in it.
std::filesystem::path server_folder_in(const std::filesystem::path& directory, int server);
// Where the followers of its servers (replicas=1) keep theirs: a directory like it.
std::filesystem::path followers_in(const std::filesystem::path& directory);

// In the folder of one of a server's two processes: which role it had (ps/server/replica_record.h). A follower's folder has it
// from the moment on that it has everything; one without it holds a part of a run, which nobody can go on with.
inline constexpr const char* kRoleFile = "EPOCH";
bool is_part_of_run(const std::filesystem::path& followers_folder);

// "run 3fb1… of job 'ctr' (started 2026-11-16 11:27:06 UTC, 2 servers, not finished: 3 passes, 1,234 rows)". REQUIRES: there is
// one.
std::string describe_runs(std::span<const RunRecord> records);
// What a new start is told that was not told what to do with them.
Status stopped_by_old_run(const std::filesystem::path& directory, std::span<const RunRecord> records);

// This name, or the same with the first number from 2 behind it that nothing has: what is put aside replaces nothing.
std::filesystem::path unused_name(const std::filesystem::path& name);
// Gives a server's folder the name <folder>.before-<run>, or with a number behind it where that is taken. Nothing where there is
// none. Returns the new name.
Result<std::filesystem::path> move_aside(const std::filesystem::path& folder, const std::string& run);

// The right to a server's folder, until the process ends: the file <folder>.lock. `already_exists` where another process has it.
Result<Fd> lock_server_folder(const std::filesystem::path& folder);
// The right to begin and to end runs in a job's directory, for the launcher of all its processes, as long as that lives: the file
// launcher.lock in it. `already_exists` where another launcher has it, also while none of its servers runs.
Result<Fd> lock_launch(const std::filesystem::path& directory);

// Now, as records have it.
std::string date_and_time();

}  // namespace argosy
