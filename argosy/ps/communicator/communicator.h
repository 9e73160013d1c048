#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/line_range.h"
#include "argosy/base/status.h"
#include "argosy/base/step_gradients.h"
#include "argosy/ps/communicator/communicator_options.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {

// How often a communicator did what, since it was made.
struct CommunicatorCounters {
  uint64_t pushes = 0;         // sends to all servers
  uint64_t merged_batches = 0;  // batches in them
  uint64_t receives = 0;       // of all dense parameters
  uint64_t skipped_batches = 0;  // that every server had already, from an earlier start of this worker
};

// Moves one worker's parameters and gradients, as the job's mode says. One per worker process. The modes differ in whom a
// thread's step() waits for:
//
//   sync        all threads of all workers; the servers take one step for all
//   half_async  the threads of this worker; its mean gradient is sent and applied at once
//   async       nobody, but for room in the queue
//   geo         nobody; it trains its own copy, and differences are exchanged every geo_k_steps batches
//
// A worker calls:
//
//   make_communicator, bind_dense for each dense table, start
//   begin_round(threads)                         a pass over the data; each thread, until its data ends:
//     id = begin_batch(n); if (!wants(id)) continue;  pull(rows)  …compute…  step(gradients)
//     and then thread_done(), or thread_failed() after an error
//   end_round, or abandon_round after an error
//   stop
//
// Steps outside a round (a script that feeds batches itself) count in the current round, as one of one thread; between
// begin_parallel(threads) and end_parallel() as one of that many.
//
// Dense parameters live in the caller's memory. The communicator writes received values there while other threads may read
// them, with relaxed atomic stores; in geo and async mode it also trains there (geo_dense.h, dense_lookahead.h).
//
// Every wait has a deadline, and its error names the worker, thread or server that is missing. After an error that is not a
// wrong argument every later call returns it, since the worker's state is no longer known, until abandon_round() and
// begin_round() have begun the round again. After `cancelled`, which is a user's Ctrl-C, refresh() still receives and stop()
// still works.
//
// Thread-safe: trainer threads call begin_batch, wants, pull, step, thread_done and thread_failed concurrently. The other
// calls are made by one thread, while no trainer thread runs.
class Communicator {
 public:
  virtual ~Communicator() = default;

  // Before start(), once for each dense table. REQUIRES: storage lives until stop().
  virtual Status bind_dense(int table, std::span<float> storage) = 0;

  // Receives all dense parameters, which somebody has initialised (Client::wait_initialised), and starts the threads.
  virtual Status start() = 0;

  // A pass over data by `threads` threads. False: an earlier start of this worker has finished this round on every server,
  // so it is to be skipped, and counts as done (neither thread_done nor end_round follow).
  virtual Result<bool> begin_round(int threads) = 0;
  // Flushes what is queued or unsent, tells the servers that this worker has left the round and what it has read in it, receives
  // dense parameters (where that fails, the next call says so). All threads have called thread_done(). Where a server has not
  // applied exactly what was read, the error names server, worker and batches, and the round is not finished: abandon_round()
  // comes next.
  virtual Status end_round(const ReadCounters& counters) = 0;
  Status end_round() { return end_round({}); }
  // In place of it after an error. Sends what it can of what was trained; nothing is finished, and those who wait for this worker
  // are told. The next begin_round() goes on in the same round: batches that all servers have are skipped.
  virtual void abandon_round(const Status& why) = 0;
  // Ok where stop() would leave nothing behind: no round was abandoned, no step failed.
  virtual Status unfinished() const = 0;
  // Whether a server was found to have less than it had acknowledged; after abandon_round() the batches can be trained again.
  virtual bool went_back() const = 0;

  // Steps outside a round, by several threads that all take part in each step.
  virtual Status begin_parallel(int threads) = 0;
  virtual Status end_parallel() = 0;

  // The next batch of the round, by the order of the calls; or the one with this number, where the data has numbers that are the
  // same after a restart. In the modes where threads meet, a thread takes a batch after its last step.
  // `samples`: in the batch. `lines`: that it was made of, where servers hand out the files; their `batch` is not looked at.
  virtual BatchId begin_batch() = 0;
  virtual BatchId begin_batch(uint32_t number, uint32_t samples, std::span<const FileLineRange> lines) = 0;
  BatchId begin_batch(uint32_t number, uint32_t samples = 0) { return begin_batch(number, samples, {}); }
  // A batch from begin_batch() whose computation failed before step(): it counts nothing, which the ledger says.
  virtual void drop_batch(BatchId batch) = 0;
  // What begin_batch() would give: where this worker is in its data. A worker that is started again comes to the same places
  // with its script, through batches and rounds that it skips too.
  virtual BatchId next_batch() const = 0;
  // False: every server has this batch, from an earlier start of this worker. The thread drops it and takes the next.
  virtual bool wants(BatchId batch) = 0;
  virtual Status pull(std::span<const RowRequest> requests) = 0;
  // Before rows of a later batch are pulled while another is computed: waits until the servers have what was given to step(), so
  // that the rows lack no more than that one batch of this thread.
  virtual Status before_prefetch() = 0;
  // Blocks as the mode says. What is kept is copied: the caller's memory is free when it returns.
  virtual Status step(const StepGradients& gradients) = 0;
  // This thread has no more data in this round; the others no longer wait for it.
  virtual Status thread_done() = 0;
  // In place of it after an error. Where threads meet, the step that the others are at is not taken without this thread's batch:
  // their step() returns the error too, and nothing of it was sent.
  virtual void thread_failed(const Status& why) = 0;

  // Before this worker waits for all others in a barrier or the like, which all of them enter: where steps are taken together,
  // those who still train must not wait for its steps meanwhile. Nothing within a round.
  virtual Status before_gathering() = 0;

  // Sends what is queued, waits until the servers have it, and receives dense parameters: before a save or an evaluation.
  virtual Status refresh() = 0;
  // Gives a dense table, or some rows of a sparse one, new values: on the servers, and in this worker's copy. What it had trained
  // before is sent first, and so is in none of them.
  virtual Status store_dense(int table, std::span<const float> values) = 0;
  virtual Status store_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) = 0;
  // Flushes, leaves the round, joins the threads. Safe to call twice. The client stays usable. A round that was abandoned is not
  // left, and the error says so, but for one that a user has ended by Ctrl-C.
  virtual Status stop() = 0;

  // `rate` in place of the schedule of a table (-1: all), without a value back to it; in geo mode for this worker's training.
  virtual Status set_rate(int table, std::optional<float> rate) = 0;

  virtual CommunicatorCounters counters() const = 0;
};

}  // namespace argosy::ps
