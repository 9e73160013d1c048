#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/nonfinite_policy.h"
#include "argosy/rpc/security.h"

namespace argosy::ps {

// What is left of a server's tables when its process dies.
enum class Durability {
  none,      // nothing
  snapshot,  // the last snapshot: what came after it is lost
  wal,       // everything that was acknowledged; a power cut takes the last log_sync_seconds
  wal_sync,  // that, after a power cut too
};

// What a job does about a worker that has been silent for lease_seconds.
enum class OnWorkerLoss {
  fail,    // calls that wait for it get an error that names it
  wait,    // they go on waiting, for worker_wait_seconds more
  shrink,  // it is no longer waited for, and has to start again to come back
};

// What a new start does with the run that it finds in its directory.
enum class OnOldState {
  stop,    // refuses, and says what is there
  resume,  // goes on with it; after a finished run a new one begins with its tables
  fresh,   // moves it aside and begins anew
};

// Job-wide fields are settings of the job: see settings.h.
struct ServerOptions {
  std::string address = "127.0.0.1:0";  // to listen at; empty: nobody can connect (see Server::handler)
  std::string job;                      // empty: the first worker's
  std::string run;                      // the run's id; empty: see RunGuard
  std::string launch;  // of the launcher that started this process and holds its port; empty: none. See ServerFolder
  int server = 0;
  int servers = 1;
  int workers = 0;              // 0: as many as the first worker says
  std::optional<JobSpec> spec;  // nothing: the first worker's
  bool import_first = false;    // Server::begin_import() follows; before end_import() nobody is let in. REQUIRES: spec

  // The server, "host:port", whose log this one follows: it then only reads, and what it is of the job is taken from there.
  // Empty: none.
  std::string follow;
  std::string follow_job;      // the job that the server must be of; empty: any
  WireFormat follow_format = WireFormat::float32;  // that gradients are to come in: rounded ones are fewer bytes
  // One of the two processes of a server (replicas=1): which of them is the primary, an arbiter says after start(). `follow` is
  // set by the server itself then.
  bool replica = false;
  uint32_t keep_versions = 2;  // of a follower: that may be kept beside its newest one
  double follow_wait_seconds = 60;  // for one that does not answer at all, at first; later it is waited for as long as it takes

  std::optional<Durability> durability;  // nothing: wal where there is a directory, none where there is not
  std::filesystem::path directory;  // for log, snapshots and rows beyond the memory limit
  OnOldState on_old_state = OnOldState::stop;
  bool only_recover = false;  // for tools: the folder's run stays what it is, and the caller has locked the folder
  double snapshot_seconds = 600;  // from one snapshot to the next; 0: only when the log is full
  int64_t log_limit_bytes = int64_t{4} << 30;  // since the last snapshot; the next is due then
  // Snapshots that workers ask for are written only below these; none: the working directory and `directory`.
  std::vector<std::filesystem::path> snapshot_roots;
  double log_sync_seconds = 1;  // wal: from one sync of the log to the next
  uint64_t mem_limit_bytes = 0;  // of sparse rows; 0: no limit

  double lease_seconds = 10;
  OnWorkerLoss on_worker_loss = OnWorkerLoss::fail;
  double worker_wait_seconds = 600;
  double worker_start_seconds = 3600;
  bool workers_return = false;  // somebody starts workers again that have failed: they are waited for as those that are silent
  bool end_with_workers = true;  // the server ends when all workers have said goodbye

  Nonfinite nonfinite = Nonfinite::refuse;

  rpc::Security security;
  int threads = 0;  // that handle requests; 0: one per core
  uint64_t max_message_bytes = uint64_t{256} << 20;
  uint64_t mailbox_limit_bytes = uint64_t{1} << 30;

  // What callers are refused beyond; server_limits.h has all limits.
  uint64_t parked_limit_bytes = uint64_t{4} << 30;
  uint64_t unread_mail_limit_bytes = uint64_t{16} << 30;
  uint64_t waiting_keys_limit_bytes = uint64_t{16} << 30;
  uint64_t reply_limit_bytes = uint64_t{4} << 30;

  Status check() const;
  Durability settled_durability() const;
};

std::string_view durability_name(Durability durability);
std::string_view on_worker_loss_name(OnWorkerLoss choice);
std::string_view on_old_state_name(OnOldState choice);

}  // namespace argosy::ps
