#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"
#include "argosy/ps/client/client_types.h"
#include "argosy/ps/spec/ledger.h"
#include "argosy/ps/spec/load_report.h"

namespace argosy::ps {

// A worker's side of the parameter server: knows where each key and each block lives, sends one message per server, all at
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
  ~Client();

  const JobSpec& spec() const;
  const std::string& run() const;  // the run's id
  int worker() const;
  int servers() const;

  // ---- What an earlier start of this worker has already done, as the servers said when this one connected, or last resumed.

  // Whether `server` had this batch then.
  bool had(int server, BatchId batch) const;
  bool all_had(BatchId batch) const;
  // The first round that this worker has not left on every server; rounds before it are over for this worker.
  uint32_t first_open_round() const;
  // The step of first_open_round() that this worker pushes next (sync).
  uint32_t next_step() const;

  // ---- First values.

  // Sets a dense table where the servers have no values for it; else does nothing.
  Status init_dense(int table, std::span<const float> values);
  // Until every dense table has values; the error names the tables that have none.
  Status wait_initialised(Deadline deadline);

  // ---- Training.

  // With `min_step`, until that position is reached (sync), by `deadline`; the error names the workers that are missing.
  // Where `read_at` is given, what the servers told of this reading is taken into it.
  Status pull_rows(std::span<const RowRequest> requests, std::optional<Position> min_step, Deadline deadline,
                   Numbers numbers = Numbers::exact, ReadAt* read_at = nullptr);
  Status pull_dense(std::span<const DenseRequest> requests, std::optional<Position> min_step, Deadline deadline,
                    Numbers numbers = Numbers::exact, ReadAt* read_at = nullptr);
  // As above, without a position.
  Status pull_rows(std::span<const RowRequest> requests, Numbers numbers = Numbers::exact, ReadAt* read_at = nullptr);
  Status pull_dense(std::span<const DenseRequest> requests);

  // Returns when every server has it. A server that had all of the batches when this worker connected gets nothing. One that
  // had some of them is an error (but for `by_server`): the worker replays its script with other threads or other data.
  Status push(const Push& push);

  // This worker has no more data in `round`; sync: it has pushed `steps` steps of it. With what it has read the servers compare
  // what they have: a difference is an error that names server, worker and batches, and the round stays open.
  // Returns what servers were allowed to lose of it.
  Result<PassLoss> leave(uint32_t round, uint32_t steps, const PassReading* reading = nullptr);

  // This worker has met an error in `round` and may not finish it: those who wait for it are told why. Waits for nobody.
  void abandon(uint32_t round, const std::string& why);
  // Begins again as a restarted process would: the servers say what they have of this worker, and take nothing more of what is
  // still on its way. A server that has less than it had acknowledged is an error (`data_loss`) that names and counts the
  // batches, once: the next call goes on with what is there. One thread, while no other uses this client.
  Status resume();
  // Whether a server was found to have less than it had acknowledged, since the last resume().
  bool went_back() const;

  // Sync: how far the slowest server is.
  Result<Position> position();

  // Sync, jobs with clip groups; see wire::StepNormsRequest. Without a value: the step is applied already.
  Result<std::optional<std::vector<StepNorm>>> step_norms(Position step, Deadline deadline);
  Status apply_step(Position step, std::span<const ClipFactor> factors);

  // Geo: gives `visit` all rows that others have changed since the last call. A row is given again where visit fails. One
  // thread at a time.
  Status pull_changed(std::span<const int> tables, const ChangedRows& visit, ReadAt* read_at = nullptr);

  // ---- Between workers, through the servers. Every worker makes the same calls in the same order. `position` is that of this
  // worker's data, as in Operation: after a restart, calls that were made before are made again and get the old answers, and a
  // call at a place where the worker has not been meets the others.

  // Until all workers have called it with `name`; the error names those who have not.
  Status barrier(std::string_view name, Deadline deadline, BatchId position = 0);
  // Everybody's bytes, worker by worker.
  Result<std::vector<std::string>> all_gather(std::string_view name, std::string_view bytes, Deadline deadline,
                                              BatchId position = 0);
  // Element by element over all workers, in worker order; all have as many values.
  template <typename T>  // double, float, int64_t
  Status all_reduce(std::string_view name, Reduce reduce, std::span<T> values, Deadline deadline, BatchId position = 0);

  // The next of `files` files of a list for one reader of this worker, by its place in the list; none: all are handed out. Each
  // file goes to one reader of one worker. One thread at a time asks for a reader.
  Result<std::optional<HandedFile>> next_file(const FileQuestion& question);
  Result<std::optional<uint64_t>> next_file(std::string_view list, uint64_t files, int reader = 0);

  // Puts bytes into a worker's box (also this one's), and takes the next from this worker's own, in order of arrival. One
  // thread at a time posts to a box, and one takes.
  Status post(int to, std::string_view bytes);
  Result<Mail> take(Deadline deadline);

  // ---- What counts once.

  // Runs `body` and keeps its answer (1 MiB at most) on server 0; where this worker has done the same operation before, in this
  // run of the job and whatever process it was then, returns the answer of that time instead. Operations of equal kind, target
  // and position are told apart by their order. `body` gets a number that identifies the operation to servers, and to the next
  // process where this one dies in it. An operation whose body fails is not done: the next call is the same one again. One
  // thread at a time calls it with a kind and target.
  Result<OperationOutcome> once(const Operation& operation, const OperationBody& body);

  // ---- Table maintenance.

  // Visits every row of a sparse table, server by server, in pieces of about max_bytes; a row may come twice, the
  // newest value last.
  Status for_each_row(int table, const RowVisitor& visit, size_t max_bytes = size_t{4} << 20);
  // Sets values of rows, of any number; and of a whole dense table.
  Status import_rows(int table, std::span<const uint64_t> keys, std::span<const float> values);
  Status import_dense(int table, std::span<const float> values);

  // One state of a table's rule, by its place in optim::Rule::states(). For a sparse table's element state a row for each of
  // `keys`; else `keys` is empty and `values` is the whole table's, or one number for a scalar, which servers keep each.
  Status pull_state(int table, size_t state, std::span<const uint64_t> keys, std::span<float> values);
  Status import_state(int table, size_t state, std::span<const uint64_t> keys, std::span<const float> values);

  // `rate` in place of the schedule; without a value back to it. table -1: all.
  Status set_rate(int table, std::optional<float> rate);
  // `number`: of the operation; a server that has done it answers as before. 0: it has none, and is done again where it is
  // repeated.
  Result<ShrinkReport> shrink(int table, const ShrinkLimits& limits, uint64_t number = 0);

  // Each server writes its part into `folder`, a path of the servers' machines, with `extra` beside it; the snapshot counts
  // once all parts are there. `number`: of the operation; 0: one is drawn.
  Result<std::vector<ServerSnapshotPart>> save_snapshot(const std::string& folder, SnapshotKind kind, std::string_view extra = {},
                                                        uint64_t number = 0);
  Result<SnapshotLoadReport> load_snapshot(const std::string& folder, uint64_t number = 0);

  Result<std::vector<ServerStats>> stats();
  // What was read, applied and given up, pass by pass, of all workers.
  Result<JobLedger> ledger();
  ClientCounters counters() const;

  // Goodbye: this worker is done and no longer waited for. Ends the heartbeats. Safe to call twice.
  Status stop();
  // In place of it by a process that fails: the servers need not find out by its silence, and do what on_worker_loss says. `why`
  // goes on after "which": "ended with status 1". Waits for a few seconds at most.
  void fail(const std::string& why);

 private:
  struct Parts;  // each in a file of its own: who this worker is, training, tables, operations, workers, heartbeats
  explicit Client(std::unique_ptr<Parts> parts);
  Status say_goodbye(const std::string& failed);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace argosy::ps
