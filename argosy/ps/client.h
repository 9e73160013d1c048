#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"
#include "argosy/ps/exchange.h"
#include "argosy/ps/job_spec.h"
#include "argosy/ps/ledger.h"
#include "argosy/ps/load_report.h"
#include "argosy/ps/window.h"
#include "argosy/rpc/channel.h"

namespace argosy::ps {

// Makes the channel to one server. For tests: in-process and faulty channels.
using ChannelMaker = std::function<Result<std::unique_ptr<rpc::Channel>>(const std::string& endpoint)>;

struct ClientOptions {
  std::vector<std::string> servers;  // "host:port", in the order that every process of the job has
  std::string job;
  std::string run = {};  // the run's id; empty: server 0 tells it
  int worker = 0;
  rpc::Security security;
  double server_wait_seconds = 600;  // how long a server may be away, at the start and later, before calls fail
  double call_seconds = 30;          // how long one try of a call may take
  double operation_seconds = 3600;   // how long saving or loading a snapshot may take before it is cancelled
  size_t max_message_bytes = size_t{256} << 20;
  ChannelMaker make_channel = {};  // empty: rpc::connect_channel
};

// One send to all servers. The spans' memory is kept by `owner` and sent from where it lies; without an owner it is copied.
struct Push {
  std::span<const BatchId> batches;     // at least one, all of one round
  std::span<const uint32_t> samples = {};  // of each batch; empty: not counted
  std::optional<Position> step = {};    // sync
  std::span<const DenseGradient> dense;
  std::span<const RowGradients> rows;
  std::shared_ptr<const void> owner = {};
  // What a server had when this worker connected is not in the gradients for it: each gets the numbers that it lacked.
  bool by_server = false;
};

// A dense table's values, and where they go.
struct DenseRequest {
  int table = 0;
  std::span<float> values;  // of the whole table
};

// Rows that other workers have changed (geo), and where they go.
using ChangedRows = std::function<Status(int table, std::span<const uint64_t> keys, std::span<const float> rows)>;

// A clip group's share in the squared norm of a step's mean gradient, all servers together.
struct StepNorm {
  std::string group;
  double sum_of_squares = 0;
};

struct ClipFactor {
  std::string group;
  float factor = 1;
};

enum class SnapshotKind { full, delta, base };  // see wire::SnapshotKind in messages.proto

// What one server's part of a snapshot is.
struct SnapshotPart {
  std::string part;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  double pause_seconds = 0;
};

// Limits of one shrink(); what is left out is as in the table's spec.
struct ShrinkLimits {
  std::optional<float> score;
  std::optional<uint32_t> unseen_steps;
  std::optional<uint32_t> ttl_seconds;
};

struct ShrinkReport {
  uint64_t kept = 0;
  uint64_t dropped = 0;
  uint64_t dropped_waiting = 0;  // counters of keys that were not admitted yet
};

// One server, as it says.
struct ServerStats {
  struct Table {
    std::string name;
    uint64_t rows = 0;
    uint64_t cold_rows = 0;
    uint64_t memory_bytes = 0;
    float rate = 0;
    uint64_t nonfinite = 0;  // rows, or parts of a dense table, that came with a gradient which is NaN or infinite
  };
  struct Worker {
    uint64_t incarnation = 0;
    std::string state;  // "not seen", "live", "lost", "done"
    double silent_seconds = 0;
    Window window;  // the batches of it that this server has
    uint64_t given_up = 0;  // batches that were dropped because the worker was lost
  };

  // What the server may have only so much of; `most` 0: it is only counted.
  struct Limit {
    std::string name;
    uint64_t now = 0, most = 0, refused = 0;
  };

  Position position;     // sync
  uint64_t batches = 0;  // applied, of all workers
  uint64_t pushes = 0;
  uint64_t duplicates = 0;
  uint64_t log_bytes = 0;
  uint64_t snapshots = 0;
  double last_pause_seconds = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  std::vector<Table> tables;
  std::vector<Worker> workers;
  std::vector<Limit> limits;
};

// Something other than a push that changes or publishes state, as a script calls it.
struct Operation {
  std::string kind;    // "save_vars", "set_rate", …
  std::string target;  // what it is done to: a folder, a variable, a table
  BatchId position = 0;  // in this worker's data: Communicator::next_batch()
};

// What came of it.
struct OperationOutcome {
  bool before = false;   // an earlier start of this worker had done it; nothing was done now
  bool dropped = false;  // … so long ago that its answer is not kept: `answer` is empty
  std::string answer;
};

enum class Reduce { sum, max, min };

// What a client did since connect().
struct ClientCounters {
  uint64_t calls = 0;    // tries included
  uint64_t retries = 0;
  uint64_t pushes = 0;          // messages, one a server
  uint64_t bytes_sent = 0;      // headers and payloads
  uint64_t bytes_received = 0;
};

// A worker's side of the parameter server: knows where each key and each block lives, sends one message a server, all at
// once, and joins the answers.
//
// A call whose server is away, or answers nothing in time, is repeated with the same bytes until the server has been away for
// server_wait_seconds; then it fails with an error that names the server. So callers see servers that are killed and started
// again as slow ones. A call that is refused ("fenced off", another job, …) fails at once.
//
// Owns the thread "ps-heartbeat". Thread-safe.
class Client {
 public:
  // Waits for all servers, saying in the log who is missing, and introduces this worker to each. `spec` must be the same on
  // all workers and servers; a server with another one, another job or another version refuses, naming both sides.
  static Result<std::unique_ptr<Client>> connect(const ClientOptions& options, const JobSpec& spec);
  virtual ~Client() = default;

  virtual const JobSpec& spec() const = 0;
  virtual const std::string& run() const = 0;  // the run's id
  virtual int worker() const = 0;
  virtual int servers() const = 0;

  // ---- What an earlier start of this worker has already done, as the servers said when this one connected, or last resumed.

  // Whether `server` had this batch then.
  virtual bool had(int server, BatchId batch) const = 0;
  virtual bool all_had(BatchId batch) const = 0;
  // The first round that this worker has not left on every server; rounds before it are over for this worker.
  virtual uint32_t first_open_round() const = 0;
  // The step of first_open_round() that this worker pushes next (sync).
  virtual uint32_t next_step() const = 0;

  // ---- First values.

  // Sets a dense table where the servers have no values for it; else does nothing.
  virtual Status init_dense(int table, std::span<const float> values) = 0;
  // Until every dense table has values; the error names the tables that have none.
  virtual Status wait_initialised(Deadline deadline) = 0;

  // ---- Training.

  // With `min_step`, until that position is reached (sync), by `deadline`; the error names the workers that are missing.
  virtual Status pull_rows(std::span<const RowRequest> requests, std::optional<Position> min_step, Deadline deadline) = 0;
  virtual Status pull_dense(std::span<const DenseRequest> requests, std::optional<Position> min_step, Deadline deadline) = 0;
  // As above, without a position.
  Status pull_rows(std::span<const RowRequest> requests);
  Status pull_dense(std::span<const DenseRequest> requests);

  // Returns when every server has it. A server that had all of the batches when this worker connected gets nothing. One that
  // had some of them is an error (but for `by_server`): the worker replays its script with other threads or other data.
  virtual Status push(const Push& push) = 0;

  // This worker has no more data in `round`; sync: it has pushed `steps` steps of it. With what it has read the servers compare
  // what they have: a difference is an error that names server, worker and batches, and the round stays open.
  virtual Status leave(uint32_t round, uint32_t steps, const PassReading* reading = nullptr) = 0;

  // This worker has met an error in `round` and may not finish it: those who wait for it are told why. Waits for nobody.
  virtual void abandon(uint32_t round, const std::string& why) = 0;
  // Begins again as a restarted process would: the servers say what they have of this worker, and take nothing more of what is
  // still on its way. A server that has less than it had acknowledged is an error (`data_loss`) that names and counts the
  // batches, once: the next call goes on with what is there. One thread, while no other uses this client.
  virtual Status resume() = 0;
  // Whether a server was found to have less than it had acknowledged, since the last resume().
  virtual bool went_back() const = 0;

  // Sync: how far the slowest server is.
  virtual Result<Position> position() = 0;

  // Sync, jobs with clip groups; see wire::StepNormsRequest. Without a value: the step is applied already.
  virtual Result<std::optional<std::vector<StepNorm>>> step_norms(Position step, Deadline deadline) = 0;
  virtual Status apply_step(Position step, std::span<const ClipFactor> factors) = 0;

  // Geo: gives `visit` all rows that others have changed since the last call. A row is given again where visit fails. One
  // thread at a time.
  virtual Status pull_changed(std::span<const int> tables, const ChangedRows& visit) = 0;

  // ---- Between workers, through the servers. Every worker makes the same calls in the same order. `position` is that of this
  // worker's data, as in Operation: after a restart, calls that were made before are made again and get the old answers, and a
  // call at a place where the worker has not been meets the others.

  // Until all workers have called it with `name`; the error names those who have not.
  virtual Status barrier(std::string_view name, Deadline deadline, BatchId position = 0) = 0;
  // Everybody's bytes, worker by worker.
  virtual Result<std::vector<std::string>> all_gather(std::string_view name, std::string_view bytes, Deadline deadline,
                                                      BatchId position = 0) = 0;
  // Element by element over all workers, in worker order; all have as many values.
  template <typename T>  // double, float, int64_t
  Status all_reduce(std::string_view name, Reduce reduce, std::span<T> values, Deadline deadline, BatchId position = 0);

  // The next of `files` files of a list for one reader of this worker, by its place in the list; none: all are handed out. Each
  // file goes to one reader of one worker.
  virtual Result<std::optional<uint64_t>> next_file(std::string_view list, uint64_t files, int reader = 0) = 0;

  // Puts bytes into a worker's box (also this one's), and takes the next from this worker's own, in order of arrival. One
  // thread at a time posts to a box, and one takes.
  virtual Status post(int to, std::string_view bytes) = 0;
  struct Mail {
    int from = 0;
    std::string bytes;
  };
  virtual Result<Mail> take(Deadline deadline) = 0;

  // ---- What counts once.

  // Runs `body` and keeps its answer (1 MiB at most) on server 0; where this worker has done the same operation before, in this
  // run of the job and whatever process it was then, returns the answer of that time instead. Operations of equal kind, target
  // and position are told apart by their order. `body` gets a number that identifies the operation to servers, and to the next
  // process where this one dies in it. An operation whose body fails is not done: the next call is the same one again. One
  // thread at a time calls it with a kind and target.
  using OperationBody = std::function<Result<std::string>(uint64_t number)>;
  virtual Result<OperationOutcome> once(const Operation& operation, const OperationBody& body) = 0;

  // ---- Care of the tables.

  // Visits every row of a sparse table, server by server, in pieces of about max_bytes; a row may come twice, the
  // newest value last.
  using RowVisitor = std::function<Status(std::span<const uint64_t> keys, std::span<const float> values)>;
  virtual Status for_each_row(int table, const RowVisitor& visit, size_t max_bytes = size_t{4} << 20) = 0;
  // Sets values of rows, of any number; and of a whole dense table.
  virtual Status import_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) = 0;
  virtual Status import_dense(int table, std::span<const float> values) = 0;

  // One state of a table's rule, by its place in optim::Rule::states(). For a sparse table's element state a row for each of
  // `keys`; else `keys` is empty and `values` is the whole table's, or one number for a scalar, which servers keep each.
  virtual Status pull_state(int table, size_t state, std::span<const uint64_t> keys, std::span<float> values) = 0;
  virtual Status import_state(int table, size_t state, std::span<const uint64_t> keys, std::span<const float> values) = 0;

  // `rate` in place of the schedule; without a value back to it. table -1: all.
  virtual Status set_rate(int table, std::optional<float> rate) = 0;
  // `number`: of the operation; a server that has done it answers as before. 0: it has none, and is done again where it is
  // repeated.
  virtual Result<ShrinkReport> shrink(int table, const ShrinkLimits& limits, uint64_t number = 0) = 0;

  // Each server writes its part into `folder`, a path of the servers' machines, with `extra` beside it; the snapshot counts
  // once all parts are there. `number`: of the operation; 0: one is drawn.
  virtual Result<std::vector<SnapshotPart>> save_snapshot(const std::string& folder, SnapshotKind kind,
                                                          std::string_view extra = {}, uint64_t number = 0) = 0;
  virtual Result<LoadReport> load_snapshot(const std::string& folder, uint64_t number = 0) = 0;

  virtual Result<std::vector<ServerStats>> stats() = 0;
  // What was read, applied and given up, pass by pass, of all workers.
  virtual Result<JobLedger> ledger() = 0;
  virtual ClientCounters counters() const = 0;

  // Goodbye: this worker is done and no longer waited for. Ends the heartbeats. Safe to call twice.
  virtual Status stop() = 0;
  // In place of it by a process that fails: the servers need not find out by its silence, and do what on_worker_loss says. `why`
  // goes on after "which": "ended with status 1". Waits for a few seconds at most.
  virtual void fail(const std::string& why) = 0;
};

}  // namespace argosy::ps
