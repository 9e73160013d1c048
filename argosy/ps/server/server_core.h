#pragma once

#include <functional>
#include <span>
#include <string>

#include "argosy/ps/server/adoption.h"
#include "argosy/ps/server/call_admission.h"
#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/ending.h"
#include "argosy/ps/server/exchange_handlers.h"
#include "argosy/ps/server/exports.h"
#include "argosy/ps/server/follower.h"
#include "argosy/ps/server/kept_versions.h"
#include "argosy/ps/server/leases.h"
#include "argosy/ps/server/log_feed.h"
#include "argosy/ps/server/method_table.h"
#include "argosy/ps/server/observers.h"
#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/pass_reports.h"
#include "argosy/ps/server/periodic_work.h"
#include "argosy/ps/server/primary_link.h"
#include "argosy/ps/server/replication.h"
#include "argosy/ps/server/run_notes.h"
#include "argosy/ps/server/server_limits.h"
#include "argosy/ps/server/server_metrics.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/server/server_run.h"
#include "argosy/ps/server/snapshot_feed.h"
#include "argosy/ps/server/snapshot_host.h"
#include "argosy/ps/server/snapshotter.h"
#include "argosy/ps/server/standby.h"
#include "argosy/ps/server/state_holder.h"
#include "argosy/ps/server/stats_handler.h"
#include "argosy/ps/server/table_handlers.h"
#include "argosy/ps/server/training_handlers.h"
#include "argosy/ps/server/waiting_calls.h"
#include "argosy/ps/server/worker_handlers.h"
#include "argosy/rpc/rpc_server.h"
#include "argosy/table/snapshot.h"

namespace argosy::ps {

// What is behind a server's port: puts its parts together, and has the table of its methods (server_core.cc). Each part has a
// contract of its own, and sees of the others only what it is given.
//
// Thread-safe.
class Core {
 public:
  // `primary`: of a follower, after find(), whose answers are in the options; else null.
  explicit Core(const ServerOptions& options, std::unique_ptr<PrimaryLink> primary = nullptr);
  ~Core();

  // Recovers what the directory has. Before anything else.
  Status recover();

  // ---- Of a server with two processes (replicas=1): options.replica. Instead of recover() by the one that follows: begins with
  // an empty directory, and keeps what was there beside it.
  Status begin_standby();
  // What the arbiter says. An error: it cannot become that, and ends where it must not stay what it is. One call at a time.
  Status take_role(const wire::TakeRoleRequest& role);
  void fill(wire::ReplicaStatus& status) const;
  // Starts the threads "ps-periodic" and "ps-snapshot". `counters` are those of the port, for Stats. Before the first handle().
  void start(std::function<rpc::RpcServerCounters()> counters);

  void handle(rpc::Request request, rpc::Reply reply);
  // Which threads of the port a method runs on.
  rpc::Lane lane_of(uint16_t method) const { return methods_.lane_of(method); }

  // A change from this process, before workers come: as if a worker had sent it.
  Status import(wire::Method method, const std::string& header, std::span<const std::byte> payload);
  // The same for all that a snapshot has.
  Result<wire::LoadSnapshotReply> load_snapshot(const wire::LoadSnapshotRequest& request);
  // See Server.
  Result<bool> begin_import();
  Status end_import();
  // Takes the tables of all servers of a run and this state in place of its own. After recover(), before start().
  Status take_over(std::span<const table::Snapshot> parts, const wire::StateImage& image);
  uint64_t count_rows() const { return notes_.count_rows(); }
  State* state() const { return state_.get(); }
  bool restored() const { return restored_; }
  // The job and the run that this process is of, as far as it knows; empty: nobody has said it yet.
  std::string job() const { return state_ ? state_->job() : options_.job; }
  const std::string& run() const { return run_.id(); }

  Result<bool> wait(Deadline deadline) { return ending_.wait(deadline); }
  // Returns when followers have been told all that there is, or at the deadline. For a server that ends.
  void tell_followers(Deadline deadline) { feed_.drain(deadline); }
  // Stops the threads, answers who waits, and cuts a last snapshot if asked. After the last handle().
  Status stop(bool with_snapshot);

 private:
  void add_methods();
  void add_snapshot_methods();
  void add_tasks();
  void add_follower_methods();  // server_core_follow.cc, as the next ones
  void add_follower_tasks();
  void greet_reader(const CallPtr& call, wire::HelloRequest& request);
  void answer_versions(const CallPtr& call, State& newest, const wire::VersionsRequest& request);
  // A handler that reads, given what a follower answers from.
  template <typename Handler>
  auto from_version(Handler handler);
  Status read_only() const;
  void add_standby_methods();  // server_core_replica.cc, as the next ones
  Status promote(const wire::TakeRoleRequest& role);
  bool is_kept_back(wire::Method method) const;
  SnapshotterOptions snapshotter_options() const;
  Status log_import(bool finished);

  // ---- recover()
  Status check_alone() const;
  Status recover_state();
  Status recover_run();
  Status begin_again();
  Status forget_half_import();

  const ServerOptions options_;
  const std::string name_;  // in messages: "server 0 (127.0.0.1:6170, pid 4711)"
  const uint64_t boot_;     // of this process, drawn; not 0
  bool restored_ = false;   // there was something to recover. Constant after recover()

  RunGuard run_;
  ServerLimits limits_;
  Observers observers_{limits_.observers};
  StateHolder state_;
  Ending ending_{name_};
  Parking parking_;
  Changes changes_;
  const std::unique_ptr<Replication> replication_;  // null: the server is one process
  Adoption adoption_{options_, name_, limits_, state_};
  KeptVersions versions_{adoption_, options_.keep_versions};  // of a follower; outlives the exports of its tables
  CallAdmission admission_;
  RunNotes notes_;
  ServerSnapshotHost snapshot_host_;
  Snapshotter snapshotter_;

  PassReports reports_;
  Exports exports_{name_, limits_.exports, limits_.answer};
  WorkerHandlers workers_;
  TableStaleness staleness_;
  TrainingHandlers training_{options_, changes_, parking_, limits_, reports_, staleness_};
  ExchangeHandlers exchange_{changes_, parking_};
  TableHandlers tables_{changes_, parking_, limits_, exports_};
  StatsHandler stats_{changes_, limits_, snapshotter_, staleness_};
  LogFeed feed_;
  SnapshotFeed snapshot_feed_{options_, name_, limits_.answer};
  MethodTable methods_{name_, ending_, admission_};

  Leases leases_;
  WaitingCalls waiting_;
  PeriodicWork periodic_work_{ending_};
  MethodTable standby_methods_{name_, ending_, admission_};
  const std::unique_ptr<Standby> standby_;  // of a process that began as the follower of two
  std::atomic<bool> stands_by_ = false;     // it is that still
  const std::unique_ptr<Follower> follower_;  // null: this is no follower
  ServerMetrics metrics_{options_.server, state_,  changes_,  limits_,
                         snapshotter_,    ending_, staleness_};  // last: ends before what it reads
};

}  // namespace argosy::ps
