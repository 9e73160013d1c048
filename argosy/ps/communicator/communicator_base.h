#pragma once

#include <atomic>

#include "argosy/base/mutex.h"
#include "argosy/ps/client/client.h"
#include "argosy/ps/client/pool.h"
#include "argosy/ps/communicator/clipper.h"
#include "argosy/ps/communicator/communicator.h"
#include "argosy/ps/communicator/gradients.h"
#include "argosy/ps/communicator/read_moments.h"
#include "argosy/ps/communicator/round_reading.h"

namespace argosy::ps {

// What the four communicators share: the bound dense parameters, rounds and batch numbers, the first error.
class CommunicatorBase : public Communicator {
 public:
  CommunicatorBase(const CommunicatorOptions& options, Client& client, Clipper clipper);

  Status bind_dense(int table, std::span<float> storage) override;
  using Communicator::begin_batch;
  using Communicator::end_round;
  Result<bool> begin_round(int threads) override;
  Status end_round(const ReadCounters& counters) override;
  void abandon_round(const Status& why) override;
  Status unfinished() const override;
  bool went_back() const override { return client_.went_back(); }
  Status before_gathering() override { return {}; }
  Status before_prefetch() override { return {}; }  // where rows are pulled when they are needed
  void thread_failed(const Status&) override {}  // where threads do not meet
  Status begin_parallel(int threads) override;
  Status end_parallel() override;
  BatchId begin_batch() override;
  BatchId begin_batch(uint32_t number, uint32_t samples, std::span<const FileLineRange> lines) override;
  void drop_batch(BatchId batch) override;
  BatchId next_batch() const override { return next_batch_.load(std::memory_order_relaxed); }
  bool wants(BatchId batch) override;
  Status store_dense(int table, std::span<const float> values) override;
  Status store_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) override;
  Status refresh() final;
  Status stop() override;
  Status set_rate(int table, std::optional<float> rate) override;
  CommunicatorCounters counters() const override;

 protected:
  // ---- What a mode does.

  // `threads` threads take part in the steps to come.
  virtual void set_threads(int threads) = 0;
  // Until the servers have everything that was given to step().
  virtual Status flush() = 0;
  // What refresh() does in this mode.
  virtual Status refresh_all() = 0;
  // Steps of the current round that this worker has pushed.
  virtual uint32_t steps_of_round() const { return 0; }
  // The current round is now round().
  virtual void round_changed() {}
  // Lets go of all that was given to step() and is not on the servers, after an error.
  virtual Status drop_unsent() { return {}; }
  // The round begins again, with nothing unsent: dense parameters are received, unless the mode does that at its first step.
  virtual Status begin_again() { return {}; }
  // Around each receive of dense parameters, of which there is one at a time: where they go, and that they are there, or that the
  // receive failed.
  virtual std::span<const DenseRequest> begin_receive() { return dense_requests_; }
  virtual void end_receive(bool /*received*/) {}
  // What this worker holds back, and what it has given up of that: see wire::PassLedger.
  virtual void describe_backlog(PassReading&) {}
  // Ends the mode's threads; called once, also after an error.
  virtual void end_threads() {}

  // ---- What a mode uses.

  const JobSpec& spec() const { return client_.spec(); }
  const CommunicatorOptions& options() const { return options_; }
  const Clipper& clipper() const { return clipper_; }
  Client& client() { return client_; }
  uint32_t round() const { return round_of(next_batch_.load(std::memory_order_relaxed)); }
  Deadline patience() const { return Deadline::after_seconds(options_.sync_wait_seconds); }

  // Flushes, tells the servers, and goes on with the next round.
  Status leave_round(const ReadCounters& counters = {});
  // Goes on with the next round where an earlier start of this worker has left this one on every server.
  bool skip_finished_round();
  bool in_round() const { return in_round_; }  // of a dataset
  bool abandoned() const { return !abandoned_.ok(); }

  // All dense tables have storage.
  Status check_bound() const;
  // All dense parameters, to where begin_receive() says. One thread at a time: an older answer must not overwrite a newer one.
  Status receive_dense(std::optional<Position> min_step, Deadline deadline);
  std::span<float> storage(size_t table) const { return storage_[table]; }
  // What a step begins with: it fits, and is computed.
  Status check_step(const StepGradients& gradients);
  // The rows of a batch, with the numbers that training computes with.
  Status pull_from_servers(std::span<const RowRequest> requests);
  ReadMoments& reads() { return reads_; }

  // To all servers, with the lines that its batches were made of.
  Status push_to_all(Push push);

  // The first error; it stays.
  Status failure() const;
  // Keeps it where it is the first; returns `status`. A `cancelled` one says what the worker can still do.
  Status keep(Status status);

  std::atomic<uint64_t> pushes_{0}, merged_batches_{0}, receives_{0}, skipped_{0};

 private:
  // After abandon_round(): as a worker that is started again.
  Status resume();
  void next_round();
  bool interrupted() const { return failure().code() == Code::cancelled; }

  const CommunicatorOptions options_;
  const Clipper clipper_;
  Client& client_;
  std::vector<std::span<float>> storage_;  // by table; empty: sparse or not bound
  std::vector<DenseRequest> dense_requests_;
  std::atomic<BatchId> next_batch_{0};
  RoundReading reading_;
  ReadMoments reads_;
  bool in_round_ = false;  // changed while no trainer thread runs, as are the next
  bool stopped_ = false;
  uint32_t resumed_ = 0, resumed_round_ = 0;  // how often this process went on in that round after an error
  Status abandoned_;  // the cause; ok: the round was not abandoned, or goes on

  Mutex receive_mutex_;
  ConditionVariable received_;
  bool receiving_ ARGOSY_GUARDED_BY(receive_mutex_) = false;

  mutable Mutex failure_mutex_;
  Status failure_ ARGOSY_GUARDED_BY(failure_mutex_);
};

// The communicators of the modes; make_communicator chooses. REQUIRES: the options are checked.
std::unique_ptr<Communicator> make_sync_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper);
std::unique_ptr<Communicator> make_half_async_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper);
std::unique_ptr<Communicator> make_async_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper);
Result<std::unique_ptr<Communicator>> make_geo_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper);

}  // namespace argosy::ps
