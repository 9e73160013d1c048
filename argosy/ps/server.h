#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"
#include "argosy/ps/job_spec.h"
#include "argosy/ps/load_report.h"
#include "argosy/rpc/handler.h"
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

// What becomes of gradients that are not finite numbers.
enum class Nonfinite {
  refuse,  // the push fails, naming table, key, worker and batch
  skip,    // the row, or the dense table's part of the push, is left out
  clip,    // NaN is taken for 0, an infinity for the bound of the table's value_clip, or 0 where there is none
};

// Job-wide fields are settings of the job: see settings.h.
struct ServerOptions {
  std::string address = "127.0.0.1:0";  // to listen at; empty: nobody can connect (see Server::handler)
  std::string job;                      // empty: the first worker's
  int server = 0;
  int servers = 1;
  int workers = 0;              // 0: as many as the first worker says
  std::optional<JobSpec> spec;  // nothing: the first worker's
  bool import_first = false;    // Server::begin_import() follows; before end_import() nobody is let in. REQUIRES: spec

  std::optional<Durability> durability;  // nothing: wal where there is a directory, none where there is not
  std::filesystem::path directory;       // for log, snapshots and rows beyond the memory limit
  double snapshot_seconds = 600;         // from one snapshot to the next; 0: only when the log is full
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
  int threads = 0;  // that handle requests; 0: one a core
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

// Whether a folder has what servers wrote as a snapshot.
bool is_snapshot(const std::filesystem::path& folder);

std::string_view durability_name(Durability durability);
std::string_view on_worker_loss_name(OnWorkerLoss choice);
std::string_view nonfinite_name(Nonfinite policy);

// One parameter server: holds its part of a job's tables and answers the job's workers, as messages.proto says. With a
// directory it takes up the state that an earlier process left there.
//
// Thread-safe. Owns its threads: those of the rpc server, "ps-wake", "ps-keeper" (deadlines, leases), "ps-snapshot".
class Server {
 public:
  // Reads what is in the directory, then listens. Refuses a directory of another job, server or schema, naming both sides.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options);
  virtual ~Server() = default;  // stop(), without a last snapshot

  virtual const std::string& endpoint() const = 0;  // "host:port"; empty where it does not listen
  virtual int port() const = 0;

  // Whether the directory had the state of an earlier process.
  virtual bool restored() const = 0;

  // With options.import_first: first values are given between these, all or none: a process that dies in between leaves nothing
  // of them to the next. False: the directory had them already; there is nothing to give, or to end.
  virtual Result<bool> begin_import() = 0;
  virtual Status end_import() = 0;

  // Gives tables their first values, before workers come: all of a table's values are given, and the server takes those that
  // are its own. `state`: not the values but that state of the rule (optim::Rule::states()); a sparse table's scalar comes
  // without keys. REQUIRES: options.spec.
  virtual Status import_dense(size_t table, std::optional<size_t> state, std::span<const float> values) = 0;
  virtual Status import_rows(size_t table, std::optional<size_t> state, std::span<const uint64_t> keys,
                             std::span<const float> values) = 0;

  // The same by a snapshot, which any number of servers wrote: of the tables in `only`, or of all where it is empty.
  virtual Result<LoadReport> load_snapshot(const std::filesystem::path& folder, std::span<const std::string> only) = 0;

  // What answers requests, for channels within the process. Valid until stop().
  virtual rpc::Handler handler() = 0;

  // Waits until the server has something to end for: true. False: the deadline came first. An error: it cannot go on, because
  // of its disk; started again it finds what it had acknowledged.
  virtual Result<bool> wait(Deadline deadline) = 0;

  // Answers nobody any more, and cuts a last snapshot where there is a directory and durability is not none. Safe to call
  // twice.
  virtual Status stop() = 0;
};

}  // namespace argosy::ps
