#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "argosy/ps/server/adoption.h"
#include "argosy/ps/server/server_folder.h"
#include "argosy/ps/server/server_journal.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/server/server_run.h"
#include "argosy/ps/server/state_holder.h"
#include "argosy/table/snapshot.h"

namespace argosy::ps {

// What a process does with the directory of the one before it: the newest snapshot that can be read, and the log behind it,
// become the state.
//
// Thread-compatible, before the server listens.
class Recovery {
 public:
  Recovery(const ServerOptions& options, std::string name, RunGuard& run, Adoption& adoption, StateHolder& state)
      : options_(options), name_(std::move(name)), run_(run), adoption_(adoption), state_(state) {}

  // All of it, up to the state. `folder`: of the server; null: tools, which have it locked by themselves.
  Status recover(const ServerFolder* folder);

  // ---- What was found.
  std::unique_ptr<Journal> take_journal() { return std::move(journal_); }  // null: durability has none
  bool restored() const { return restored_; }                             // there was something to recover
  bool lossy() const { return lossy_; }                                   // it may lack acknowledged steps
  uint64_t records() const { return records_; }                           // of the log, replayed
  uint64_t next_snapshot() const { return next_snapshot_; }               // 0: there is none
  uint64_t log_start() const { return log_start_; }                       // where replay began, by the snapshot that was used

  // ---- Its steps, for tools that look at each record.
  Status recover_snapshot();
  uint64_t replay_from(uint64_t first) const;
  Status replay_record(const Record& record);

 private:
  Status restore_from(const table::Snapshot& snapshot);
  Status recover_hello(const Record& record);
  Status adopt_first_hello();
  // The directory's run is not what this server was started for: no fault of the directory.
  Status another_run(const Status& status);
  Status recover_log(const std::filesystem::path& folder);
  Status cannot_recover(const Status& status) const;

  const ServerOptions& options_;
  const std::string name_;
  RunGuard& run_;
  Adoption& adoption_;
  StateHolder& state_;
  const ServerFolder* folder_ = nullptr;
  std::unique_ptr<Journal> journal_;
  bool restored_ = false, lossy_ = false;
  Status another_run_;  // not ok: what another_run() said
  uint64_t records_ = 0, next_snapshot_ = 0, log_start_ = 0;
};

}  // namespace argosy::ps
