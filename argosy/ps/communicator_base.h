#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "argosy/ps/clipper.h"
#include "argosy/ps/communicator.h"
#include "argosy/ps/gradients.h"
#include "argosy/ps/pool.h"

namespace argosy::ps {

// What the four communicators share: the bound dense parameters, rounds and batch numbers, the first error.
class CommunicatorBase : public Communicator {
 public:
  CommunicatorBase(const CommunicatorOptions& options, Client& client, Clipper clipper);

  Status bind_dense(int table, std::span<float> storage) override;
  Result<bool> begin_round(int threads) override;
  Status end_round() override;
  Status before_gathering() override { return {}; }
  Status begin_parallel(int threads) override;
  Status end_parallel() override;
  BatchId next_batch_id() override { return next_batch_.fetch_add(1, std::memory_order_relaxed); }
  BatchId next_batch() const override { return next_batch_.load(std::memory_order_relaxed); }
  BatchId batch_of_round(uint32_t number) override { return batch_id(round(), number); }
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
  Status leave_round();

  // All dense tables have storage.
  Status check_bound() const;
  // All dense parameters, into their storage. One thread at a time: an older answer must not overwrite a newer one.
  Status receive_dense(std::optional<Position> min_step, Deadline deadline);
  std::span<float> storage(size_t table) const { return storage_[table]; }
  Status check_step(const StepGradients& gradients) const;

  // The first error; it stays.
  Status failure() const;
  // Keeps it where it is the first; returns `status`. A `cancelled` one says what the worker can still do.
  Status keep(Status status);

  std::atomic<uint64_t> pushes_{0}, merged_batches_{0}, receives_{0}, skipped_{0};

 private:
  bool interrupted() const { return failure().code() == Code::cancelled; }

  const CommunicatorOptions options_;
  const Clipper clipper_;
  Client& client_;
  std::vector<std::span<float>> storage_;  // by table; empty: sparse or not bound
  std::vector<DenseRequest> dense_requests_;
  std::atomic<BatchId> next_batch_{0};
  bool stopped_ = false;

  std::mutex receive_mutex_;
  std::condition_variable received_;
  bool receiving_ = false;  // guarded by receive_mutex_

  mutable std::mutex failure_mutex_;
  Status failure_;  // guarded by failure_mutex_
};

// The communicators of the modes; Communicator::create chooses. REQUIRES: the options are checked.
std::unique_ptr<Communicator> make_sync_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper);
std::unique_ptr<Communicator> make_half_async_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper);
std::unique_ptr<Communicator> make_async_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper);
Result<std::unique_ptr<Communicator>> make_geo_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper);

}  // namespace argosy::ps
