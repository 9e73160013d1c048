#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/queue.h"
#include "argosy/base/thread.h"
#include "argosy/ps/server/long_operations.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/server/snapshot_roots.h"
#include "argosy/ps/state/state.h"
#include "argosy/ps/state/state_snapshot.h"
#include "argosy/table/record_log.h"

namespace argosy::ps {

// What a Snapshotter sees of its server. Thread-safe.
class SnapshotHost {
 public:
  virtual ~SnapshotHost() = default;

  virtual State* state() = 0;      // null: there is no job yet
  virtual table::RecordLog* log() = 0;   // null: durability has none
  // Counts of what would be lost without a snapshot: all changes, and those that must not be lost where there is no log.
  virtual uint64_t changes() const = 0;
  virtual uint64_t news() const = 0;

  // Does `work` while no change of the state is under way; those that arrive wait. Returns how long they did, in seconds.
  virtual Result<double> between_changes(const std::function<Status(State&)>& work) = 0;
  // Does `work`, which is short, while no call looks at or moves the parts of the state that are not its tables.
  // `unavailable`: a change has hung for too long, and nothing was done.
  virtual Status in_order(const std::function<void(State&)>& work) = 0;
  // Logs and applies a change that the server decides by itself. Not within between_changes().
  virtual Status commit(wire::Method method, const std::string& header) = 0;
  // Tables have got other values.
  virtual void values_changed() = 0;
  // Several times per second, by the thread that writes to the server's folder, where it has nothing else to do.
  virtual void idle() {}
};

struct SnapshotterOptions {
  std::filesystem::path directory;  // the server's; snapshots for recovery are in its folder `snapshots`
  int server = 0;
  int servers = 1;
  Durability durability = Durability::none;
  double snapshot_seconds = 600;
  int64_t log_limit_bytes = int64_t{4} << 30;
  std::vector<std::filesystem::path> roots;  // see SnapshotRoots
  uint64_t piece_bytes = uint64_t{64} << 20;  // of the state, about
  uint32_t keep = 3;                          // snapshots for recovery
  std::function<void(const std::filesystem::path& part)> written = {};  // tests: it is on the disk, and not read back yet
};

// Cuts snapshots of a server's state on its own thread while training goes on: from time to time for the server's own recovery,
// and saves and loads for users. Changes wait for as long as it takes to note the moment, not while rows are written.
//
// A snapshot for recovery is read back and compared with its checksums before anything older is removed. The last `keep` stay,
// and the log from the oldest of them on, so that recovery can fall back to an older one without losing anything; after a load
// only the newest stays, because the log does not know what was loaded.
//
// Owns: the thread "ps-snapshot", the folder `snapshots`, the place where the log may be cut, the operations under way.
// Sees: the server through SnapshotHost. Thread-safe, but for what is marked.
class Snapshotter {
 public:
  Snapshotter(SnapshotHost& host, SnapshotterOptions options);
  ~Snapshotter() { stop(); }

  // ---- Before start() and after stop().

  // What recovery has found: the number after the last snapshot's, and where the log goes on after the one that was used.
  void recovered(uint64_t next_number, uint64_t log_position);
  // A snapshot for recovery, now.
  Status cut();
  bool unsaved() const { return host_.state() != nullptr && host_.changes() != changes_at_snapshot_; }

  // ---- Any time.
  // The same by the thread. For who has just got tables of which the log knows nothing: nothing older stays.
  Status cut_now(Deadline deadline);
  void start();
  // Ends what is under way. Safe to call twice.
  void stop();

  // Answers SAVE_SNAPSHOT and LOAD_SNAPSHOT of a caller that was admitted, now or later.
  void save(const wire::SaveSnapshotRequest& request, const CallPtr& call);
  void load(const wire::LoadSnapshotRequest& request, const CallPtr& call);
  // As a worker's, of this process.
  Result<wire::LoadSnapshotReply> load(wire::LoadSnapshotRequest request, Deadline deadline);
  bool cancel(const wire::CancelOperationRequest& request) { return operations_.cancel(request.id(), request.attempt()); }
  // For a thread that keeps the time: answers calls that have waited long enough.
  void answer_due() { operations_.answer_due(); }

  uint64_t snapshots() const { return snapshots_; }            // for recovery, of this process
  uint64_t failures() const { return failures_; }              // of tries for one
  double last_pause_seconds() const { return last_pause_; }
  double last_duration_seconds() const { return last_duration_; }
  double age_seconds() const { return last_cut_.load().seconds(); }  // REQUIRES: snapshots() > 0

 private:
  using Operation = LongOperations::Operation;
  using OperationPtr = LongOperations::OperationPtr;

  // A server at one moment.
  struct Moment {
    uint64_t changes = 0, news = 0;
    StateCut state;
    std::optional<TablesCut> tables;
  };

  // ---- snapshotter.cc: the thread, and snapshots for recovery.
  void run();
  void cut_when_due();
  void cut_if_asked();
  Status take(State& state, Moment& moment);
  Status write_moment(Moment& moment);
  Status check_written(const std::filesystem::path& part) const;
  // Removes older snapshots, and what the log has from before the oldest that stays.
  Status trim(uint32_t keep);
  void enqueue(const OperationPtr& operation);
  void work(const OperationPtr& operation);
  Result<std::string> result_of(Operation& operation);
  table::SnapshotInfo info() const;
  std::filesystem::path part_of(const std::filesystem::path& snapshot) const {
    return table::server_folder(snapshot, me().server, me().servers);
  }
  table::OneServer me() const { return {static_cast<uint32_t>(options_.server), static_cast<uint32_t>(options_.servers)}; }
  Result<double> between_changes(const std::function<Status(State&)>& work);

  // ---- snapshotter_save.cc
  Result<wire::SaveSnapshotReply> save_part(Operation& operation, const wire::SaveSnapshotRequest& request);
  Result<std::optional<wire::SaveSnapshotReply>> saved_before(const wire::SaveSnapshotRequest& request,
                                                              const std::filesystem::path& folder);
  Result<wire::SaveSnapshotReply> write_part(Operation& operation, const wire::SaveSnapshotRequest& request,
                                             const std::filesystem::path& folder);
  Result<wire::SaveSnapshotReply> publish(const wire::SaveSnapshotRequest& request);
  Result<table::SnapshotParent> delta_parent(const std::filesystem::path& folder);
  bool has_id(const std::filesystem::path& folder, uint64_t id) const;  // this server's part of the snapshot there
  Status remember(const wire::SavedRecord& saved);
  Result<wire::SavedRecord> saved_record();

  // ---- snapshotter_load.cc
  Result<wire::LoadSnapshotReply> load_tables(Operation& operation, const wire::LoadSnapshotRequest& request);
  Status replace_tables(Operation& operation, State& state, Tables& loaded, const std::set<size_t>& which,
                        const wire::LoadSnapshotReply& reply);

  SnapshotHost& host_;
  const SnapshotterOptions options_;
  const std::filesystem::path root_;
  const SnapshotRoots roots_;

  // Used before start(), by the thread, and after stop().
  uint64_t next_number_ = 1;
  uint64_t log_position_ = 0;  // where the last snapshot's log begins
  Stopwatch since_snapshot_;
  uint64_t changes_at_snapshot_ = 0;
  uint64_t news_at_snapshot_ = 0;
  SteadyClock::time_point retry_at_;

  // A cut_now() that waits, and what came of it.
  Mutex asked_mutex_;
  ConditionVariable answered_;
  bool asked_ ARGOSY_GUARDED_BY(asked_mutex_) = false;
  std::optional<Status> asked_result_ ARGOSY_GUARDED_BY(asked_mutex_);

  std::atomic<uint64_t> snapshots_ = 0, failures_ = 0;
  std::atomic<double> last_pause_ = 0, last_duration_ = 0;
  std::atomic<Stopwatch> last_cut_ = Stopwatch();
  LongOperations operations_;
  Queue<OperationPtr> queue_{64};
  Thread thread_;
};

}  // namespace argosy::ps
