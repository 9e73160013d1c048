#include <algorithm>
#include <atomic>

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/base/queue.h"
#include "argosy/base/thread.h"
#include "argosy/optim/rule.h"
#include "argosy/ps/communicator/communicator_base.h"
#include "argosy/ps/communicator/finite_gradients.h"
#include "argosy/ps/communicator/geo_tables.h"
#include "argosy/ps/communicator/step_gate.h"

namespace argosy::ps {
namespace {

// Trains this worker's own copy by the tables' rules, whose states are in the copy. Every geo_k_steps batches the thread that
// finishes the last takes the differences, and the thread "ps-geo" exchanges them with the servers while training goes on; the
// next ones are taken when it is done.
class GeoCommunicator final : public CommunicatorBase {
 public:
  GeoCommunicator(const CommunicatorOptions& options, Client& client, Clipper clipper,
                  std::vector<std::unique_ptr<optim::Rule>> rules)
      : CommunicatorBase(options, client, std::move(clipper)),
        finite_(spec(), client.servers(), client.worker(), options.nonfinite),
        tables_(spec(), std::move(rules)),
        rates_(spec().tables.size()) {}
  ~GeoCommunicator() override { end_threads(); }

  Status start() override {
    RETURN_IF_ERROR(check_bound());
    RETURN_IF_ERROR(receive_dense({}, patience()));
    for (size_t i = 0; i < spec().tables.size(); ++i) tables_.begin_dense(i, storage(i));
    exchanger_ = Thread("ps-geo", [this] { exchange_until_stopped(); });
    return {};
  }

  bool wants(BatchId batch) override {
    const bool wanted = CommunicatorBase::wants(batch);
    if (!wanted) trained_ += 1;
    return wanted;
  }

  Status pull(std::span<const RowRequest> requests) override {
    RETURN_IF_ERROR(failure());
    reads().read_copy();
    return tables_.pull(client(), requests);
  }
  Status step(const StepGradients& gradients) override;
  Status thread_done() override { return failure(); }
  Status set_rate(int table, std::optional<float> rate) override;
  Status store_dense(int table, std::span<const float> values) override;
  Status store_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) override;

 private:
  void set_threads(int) override {}
  Status flush() override;
  Status refresh_all() override { return flush(); }
  Status drop_unsent() override;
  Status begin_again() override;
  void describe_backlog(PassReading& reading) override;
  void round_changed() override { trained_before_round_ = trained_.load(); }
  void end_threads() override;

  void train(const StepGradients& gradients);
  void train_dense(const DenseGradient& gradient, int64_t count, BatchId batch);
  // Of the batch `count` of this worker.
  optim::Step begin_step(size_t table, int64_t count);
  bool had_somewhere(BatchId batch);

  enum class Without { nothing, receive };
  // Takes the differences of all batches trained since the last time, once the exchange before is over, and has them exchanged.
  // Where no batch was trained nothing is taken; `without` says whether others' changes are received all the same.
  Status take_differences(Without without);
  void exchange_until_stopped();
  Status exchange(const std::shared_ptr<GeoDifferences>& differences);
  void receive_into_dense();

  FiniteGradients finite_;
  GeoTables tables_;
  Pool<GradientCopy> copies_;
  Pool<GeoDifferences> differences_;
  StepGate gate_;
  std::atomic<int64_t> trained_{0};  // batches of this worker, skipped ones included: the schedules' step
  int64_t trained_before_round_ = 0;  // changed while no trainer thread runs
  // Of a round that was begun again; changed while no trainer thread runs.
  uint32_t given_up_round_ = 0;
  double given_up_ = 0;

  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<std::optional<float>> rates_ ARGOSY_GUARDED_BY(mutex_);      // by table, in place of the schedule
  std::vector<BatchId> batches_ ARGOSY_GUARDED_BY(mutex_);                 // trained, not yet taken
  std::vector<uint32_t> samples_ ARGOSY_GUARDED_BY(mutex_);                // of each of them
  std::shared_ptr<GeoDifferences> outgoing_ ARGOSY_GUARDED_BY(mutex_);        // what the exchanger works on; null: nothing
  bool stopping_ ARGOSY_GUARDED_BY(mutex_) = false;
  Thread exchanger_;
};

Status GeoCommunicator::step(const StepGradients& gradients) {
  RETURN_IF_ERROR(check_step(gradients));
  if (client().all_had(gradients.batch_id)) return {};
  StepGradients trained = gradients;
  std::shared_ptr<GradientCopy> copy;
  const auto own = [&]() -> GradientCopy& {
    if (copy != nullptr) return *copy;
    copy = copies_.take();
    copy->assign(spec(), gradients);
    trained = copy->view();
    return *copy;
  };
  if (clipper().clips_batches()) clipper().clip(own());
  if (!finite_.is_finite(trained)) {
    if (finite_.refuses()) return keep(finite_.refusal(trained));
    finite_.make_finite(own());
  }
  gate_.enter_step();
  train(trained);
  bool due;
  {
    MutexLock lock(mutex_);
    batches_.push_back(gradients.batch_id);
    samples_.push_back(gradients.samples);
    due = batches_.size() == static_cast<size_t>(options().geo_k_steps);
  }
  gate_.leave_step();
  reads().step_done();
  return due ? keep(take_differences(Without::nothing)) : Status();
}

void GeoCommunicator::train(const StepGradients& gradients) {
  const int64_t count = trained_++;
  std::function<bool(uint64_t)> wanted;
  if (had_somewhere(gradients.batch_id) && !ARGOSY_PLANTED("geo_resends_what_is_there")) {
    wanted = [&](uint64_t key) { return !client().had(server_of(key, client().servers()), gradients.batch_id); };
  }
  for (const DenseGradient& gradient : gradients.dense) train_dense(gradient, count, gradients.batch_id);
  for (const RowGradients& rows : gradients.rows) {
    const auto table = static_cast<size_t>(rows.table);
    tables_.rows(table).train(rows.keys, rows.values, begin_step(table, count), spec().tables[table].regularization, wanted);
  }
}

void GeoCommunicator::train_dense(const DenseGradient& gradient, int64_t count, BatchId batch) {
  const auto table = static_cast<size_t>(gradient.table);
  std::vector<Range> wanted;
  for (int server = 0; server < client().servers(); ++server) {
    if (!client().had(server, batch)) wanted.push_back(dense_range(spec(), table, client().servers(), server));
  }
  tables_.dense(table).train(gradient.values, wanted, begin_step(table, count), spec().tables[table].regularization);
}

optim::Step GeoCommunicator::begin_step(size_t table, int64_t count) {
  const TableSpec& named = spec().tables[table];
  std::optional<float> set;
  {
    MutexLock lock(mutex_);
    set = rates_[table];
  }
  return tables_.begin_step(table, set.value_or(named.schedule.value(count)) * named.rate_factor);
}

bool GeoCommunicator::had_somewhere(BatchId batch) {
  for (int server = 0; server < client().servers(); ++server) {
    if (client().had(server, batch)) return true;
  }
  return false;
}

Status GeoCommunicator::set_rate(int table, std::optional<float> rate) {
  MutexLock lock(mutex_);
  if (table < -1 || table >= static_cast<int>(rates_.size()))
    return Status::invalid_argument("no table {} to set a rate of", table);
  for (size_t i = 0; i < rates_.size(); ++i) {
    if (table == -1 || table == static_cast<int>(i)) rates_[i] = rate;
  }
  return {};
}

Status GeoCommunicator::store_dense(int table, std::span<const float> values) {
  RETURN_IF_ERROR(CommunicatorBase::store_dense(table, values));
  tables_.dense(static_cast<size_t>(table)).settle(values);
  return {};
}

Status GeoCommunicator::store_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) {
  RETURN_IF_ERROR(CommunicatorBase::store_rows(table, keys, values));
  tables_.rows(static_cast<size_t>(table)).replace(keys, values);
  return {};
}

Status GeoCommunicator::take_differences(Without without) {
  {
    MutexLock lock(mutex_);
    if (!changed_.wait_until(lock, patience().when(), [&]() ARGOSY_REQUIRES(mutex_) { return outgoing_ == nullptr; })) {
      return Status::deadline_exceeded("the last exchange with the servers has not ended in {:.0f} s",
                                       options().sync_wait_seconds);
    }
  }
  auto taken = differences_.take();
  taken->nonfinite.clear();
  gate_.enter_exclusive();
  {
    MutexLock lock(mutex_);
    taken->batches = std::exchange(batches_, {});
    taken->samples = std::exchange(samples_, {});
  }
  const bool trained = !taken->batches.empty();
  if (trained) {
    tables_.collect(*taken);
    finite_.take_counts(taken->nonfinite);
  }
  if (trained || without == Without::receive) {
    MutexLock lock(mutex_);
    outgoing_ = std::move(taken);
  }
  gate_.leave_exclusive();
  changed_.notify_all();
  return failure();
}

Status GeoCommunicator::flush() {
  RETURN_IF_ERROR(take_differences(Without::receive));
  MutexLock lock(mutex_);
  if (!changed_.wait_until(lock, patience().when(), [&]() ARGOSY_REQUIRES(mutex_) { return outgoing_ == nullptr; })) {
    return Status::deadline_exceeded("the last differences could not be sent in {:.0f} s", options().sync_wait_seconds);
  }
  lock.unlock();
  return failure();
}

// After an error nobody knows which servers have the last differences. What they lack is trained again on what they hold.
Status GeoCommunicator::drop_unsent() {
  MutexLock lock(mutex_);
  if (!changed_.wait_until(lock, patience().when(), [&]() ARGOSY_REQUIRES(mutex_) { return outgoing_ == nullptr; })) {
    return Status::deadline_exceeded("the last exchange with the servers has not ended in {:.0f} s", options().sync_wait_seconds);
  }
  batches_.clear();
  samples_.clear();
  return {};
}

Status GeoCommunicator::begin_again() {
  // Of this a part is trained again: the batches that no server has. How much that is, nobody has counted.
  const double dropped = tables_.unsent();
  if (dropped > 0) log_warning("differences of {:.6g} in sum were not sent and are given up", dropped);
  if (given_up_round_ != round()) given_up_ = 0;
  given_up_round_ = round();
  given_up_ += dropped;
  tables_.forget();
  RETURN_IF_ERROR(receive_dense({}, patience()));
  for (size_t i = 0; i < spec().tables.size(); ++i) tables_.dense(i).settle(storage(i));
  trained_ = trained_before_round_;
  return {};
}

void GeoCommunicator::describe_backlog(PassReading& reading) {
  reading.unsent = tables_.unsent();
  reading.holds_back = spec().workers > 1;
  if (given_up_round_ == round()) reading.given_up_differences = given_up_;
}

void GeoCommunicator::exchange_until_stopped() {
  for (;;) {
    std::shared_ptr<GeoDifferences> next;
    {
      MutexLock lock(mutex_);
      if (!changed_.wait_until(lock, patience().when(),
                               [&]() ARGOSY_REQUIRES(mutex_) { return stopping_ || outgoing_ != nullptr; }))
        continue;
      if (outgoing_ == nullptr) return;
      next = outgoing_;
    }
    if (failure().ok()) (void)keep(exchange(next));
    {
      MutexLock lock(mutex_);
      outgoing_ = nullptr;
    }
    changed_.notify_all();
  }
}

Status GeoCommunicator::exchange(const std::shared_ptr<GeoDifferences>& differences) {
  if (!differences->batches.empty()) {
    RETURN_IF_ERROR(push_to_all({.batches = differences->batches,
                                 .samples = differences->samples,
                                 .dense = differences->dense,
                                 .rows = differences->rows,
                                 .owner = differences,
                                 .nonfinite = differences->nonfinite,
                                 .by_server = true}));
    pushes_ += 1;
    merged_batches_ += differences->batches.size();
  }
  RETURN_IF_ERROR(tables_.fetch(client()));
  receives_ += 1;
  reads().received_rows(tables_.rows_read_at());
  receive_into_dense();
  reads().received(tables_.dense_read_at());
  return {};
}

void GeoCommunicator::receive_into_dense() {
  gate_.enter_exclusive();
  tables_.receive_dense();
  gate_.leave_exclusive();
}

void GeoCommunicator::end_threads() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  exchanger_.join();
}

}  // namespace

Result<std::unique_ptr<Communicator>> make_geo_communicator(const CommunicatorOptions& options, Client& client, Clipper clipper) {
  std::vector<std::unique_ptr<optim::Rule>> rules;
  for (const TableSpec& table : client.spec().tables) {
    ASSIGN_OR_RETURN(auto rule, optim::make_rule(table.rule, table.hyper_parameters));
    rules.push_back(std::move(rule));
  }
  return std::unique_ptr<Communicator>(std::make_unique<GeoCommunicator>(options, client, std::move(clipper), std::move(rules)));
}

}  // namespace argosy::ps
