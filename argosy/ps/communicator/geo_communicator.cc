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
#include "argosy/ps/communicator/geo_dense.h"
#include "argosy/ps/communicator/geo_rows.h"
#include "argosy/ps/communicator/step_gate.h"

namespace argosy::ps {
namespace {

// A worker's differences of some batches, on their way to the servers.
struct Differences {
  struct Table {
    std::vector<uint64_t> keys;
    std::vector<float> values;
  };
  std::vector<BatchId> batches;
  std::vector<uint32_t> samples;  // of each batch
  std::vector<Table> tables;      // by table; dense ones have values only
  std::vector<DenseGradient> dense;
  std::vector<RowGradients> rows;
  std::vector<uint64_t> nonfinite;  // as in Push
};

// Trains this worker's own copy with SGD. Every geo_k_steps batches the thread that finishes the last takes the differences, and
// the thread "ps-geo" exchanges them with the servers while training goes on; the next ones are taken when it is done.
class GeoCommunicator final : public CommunicatorBase {
 public:
  GeoCommunicator(const CommunicatorOptions& options, Client& client, Clipper clipper,
                  std::vector<std::unique_ptr<optim::Rule>> rules)
      : CommunicatorBase(options, client, std::move(clipper)),
        rules_(std::move(rules)),
        finite_(spec(), client.servers(), client.worker(), options.nonfinite),
        dense_(spec().tables.size()),
        rates_(spec().tables.size()) {
    for (const TableSpec& table : spec().tables) rows_.push_back(table.sparse ? std::make_unique<GeoRows>(table.width) : nullptr);
  }
  ~GeoCommunicator() override { end_threads(); }

  Status start() override {
    RETURN_IF_ERROR(check_bound());
    RETURN_IF_ERROR(receive_dense({}, patience()));
    for (size_t i = 0; i < dense_.size(); ++i) dense_[i].begin(storage(i));
    exchanger_ = Thread("ps-geo", [this] { exchange_until_stopped(); });
    return {};
  }

  bool wants(BatchId batch) override {
    const bool wanted = CommunicatorBase::wants(batch);
    if (!wanted) trained_ += 1;
    return wanted;
  }

  Status pull(std::span<const RowRequest> requests) override;
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

  double unsent();
  void train(const StepGradients& gradients);
  void train_dense(const DenseGradient& gradient, int64_t count, BatchId batch);
  float rate(size_t table, int64_t count);
  bool had_somewhere(BatchId batch);

  enum class Without { nothing, receive };
  // Takes the differences of all batches trained since the last time, once the exchange before is over, and has them exchanged.
  // Where no batch was trained nothing is taken; `without` says whether others' changes are received all the same.
  Status take_differences(Without without);
  void collect(Differences& differences);
  void exchange_until_stopped();
  Status exchange(const std::shared_ptr<Differences>& differences);
  void receive_into_dense();

  const std::vector<std::unique_ptr<optim::Rule>> rules_;  // by table
  FiniteGradients finite_;
  std::vector<std::unique_ptr<GeoRows>> rows_;              // by table; null: dense
  std::vector<GeoDense> dense_;                             // by table; empty: sparse
  Pool<GradientCopy> copies_;
  Pool<Differences> differences_;
  StepGate gate_;
  std::atomic<int64_t> trained_{0};  // batches of this worker, skipped ones included: the schedules' step
  int64_t trained_before_round_ = 0;  // changed while no trainer thread runs
  // Of a round that was begun again; changed while no trainer thread runs.
  uint32_t given_up_round_ = 0, begun_again_ = 0;
  double given_up_ = 0;

  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<std::optional<float>> rates_ ARGOSY_GUARDED_BY(mutex_);      // by table, in place of the schedule
  std::vector<BatchId> batches_ ARGOSY_GUARDED_BY(mutex_);                 // trained, not yet taken
  std::vector<uint32_t> samples_ ARGOSY_GUARDED_BY(mutex_);                // of each of them
  std::shared_ptr<Differences> outgoing_ ARGOSY_GUARDED_BY(mutex_);        // what the exchanger works on; null: nothing
  bool stopping_ ARGOSY_GUARDED_BY(mutex_) = false;
  Thread exchanger_;
};

Status GeoCommunicator::pull(std::span<const RowRequest> requests) {
  RETURN_IF_ERROR(failure());
  std::vector<std::vector<uint32_t>> unknown(requests.size());
  std::vector<std::vector<uint64_t>> keys(requests.size());
  std::vector<std::vector<float>> rows(requests.size());
  std::vector<RowRequest> fetch;
  for (size_t i = 0; i < requests.size(); ++i) {
    const RowRequest& request = requests[i];
    const bool known = request.table >= 0 && static_cast<size_t>(request.table) < rows_.size();
    if (!known || rows_[static_cast<size_t>(request.table)] == nullptr) {
      return Status::invalid_argument("rows are asked for of table {}, which is no sparse table of the job", request.table);
    }
    rows_[static_cast<size_t>(request.table)]->read(request.keys, request.rows, unknown[i]);
    if (unknown[i].empty()) continue;
    for (const uint32_t place : unknown[i]) keys[i].push_back(request.keys[place]);
    rows[i].resize(keys[i].size() * spec().tables[static_cast<size_t>(request.table)].width);
    fetch.push_back({.table = request.table, .keys = keys[i], .rows = rows[i].data(), .create = request.create});
  }
  if (fetch.empty()) return {};
  RETURN_IF_ERROR(client().pull_rows(fetch));
  for (size_t i = 0; i < requests.size(); ++i) {
    const size_t width = spec().tables[static_cast<size_t>(requests[i].table)].width;
    if (requests[i].create) rows_[static_cast<size_t>(requests[i].table)]->insert(keys[i], rows[i].data());
    for (size_t k = 0; k < unknown[i].size(); ++k)
      std::copy_n(&rows[i][k * width], width, requests[i].rows + unknown[i][k] * width);
  }
  return {};
}

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
    const optim::Step step = rules_[table]->begin_step(rate(table, count), {});
    rows_[table]->train(rows.keys, rows.values, *rules_[table], step, spec().tables[table].regularization, wanted);
  }
}

void GeoCommunicator::train_dense(const DenseGradient& gradient, int64_t count, BatchId batch) {
  const auto table = static_cast<size_t>(gradient.table);
  const optim::Step step = rules_[table]->begin_step(rate(table, count), {});
  std::vector<Range> wanted;
  for (int server = 0; server < client().servers(); ++server) {
    if (!client().had(server, batch)) wanted.push_back(dense_range(spec(), table, client().servers(), server));
  }
  dense_[table].train(gradient.values, wanted, *rules_[table], step, spec().tables[table].regularization);
}

float GeoCommunicator::rate(size_t table, int64_t count) {
  const TableSpec& named = spec().tables[table];
  MutexLock lock(mutex_);
  return rates_[table].value_or(named.schedule.value(count)) * named.rate_factor;
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
  dense_[static_cast<size_t>(table)].settle(values);
  return {};
}

Status GeoCommunicator::store_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) {
  RETURN_IF_ERROR(CommunicatorBase::store_rows(table, keys, values));
  rows_[static_cast<size_t>(table)]->replace(keys, values);
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
  taken->dense.clear();
  taken->rows.clear();
  taken->nonfinite.clear();
  gate_.enter_exclusive();
  {
    MutexLock lock(mutex_);
    taken->batches = std::exchange(batches_, {});
    taken->samples = std::exchange(samples_, {});
  }
  const bool trained = !taken->batches.empty();
  if (trained) {
    collect(*taken);
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

// What is collected counts as sent: the collector sees that it is.
void GeoCommunicator::collect(Differences& differences) {
  const float share = 1.0f / static_cast<float>(spec().workers);
  differences.tables.resize(spec().tables.size());
  for (size_t i = 0; i < differences.tables.size(); ++i) {
    auto& [keys, values] = differences.tables[i];
    keys.clear();
    values.clear();
    const int number = static_cast<int>(i);
    if (rows_[i] != nullptr) {
      rows_[i]->collect(share, keys, values);
      differences.rows.push_back({.table = number, .keys = keys, .values = values.data()});
      continue;
    }
    dense_[i].collect(share, values);
    differences.dense.push_back({.table = number, .values = values});
  }
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
  const double dropped = unsent();
  if (dropped > 0) log_warning("differences of {:.6g} in sum were not sent and are given up", dropped);
  if (given_up_round_ != round()) given_up_ = 0, begun_again_ = 0;
  given_up_round_ = round();
  given_up_ += dropped;
  begun_again_ += 1;
  for (const auto& rows : rows_) {
    if (rows != nullptr) rows->clear();
  }
  RETURN_IF_ERROR(receive_dense({}, patience()));
  for (size_t i = 0; i < dense_.size(); ++i) dense_[i].settle(storage(i));
  trained_ = trained_before_round_;
  return {};
}

void GeoCommunicator::describe_backlog(PassReading& reading) {
  reading.unsent = unsent();
  reading.holds_back = spec().workers > 1;
  if (given_up_round_ != round()) return;
  reading.begun_again = begun_again_;
  reading.given_up_differences = given_up_;
}

double GeoCommunicator::unsent() {
  double sum = 0;
  for (const auto& rows : rows_) {
    if (rows != nullptr) sum += rows->unsent();
  }
  for (const GeoDense& dense : dense_) sum += dense.unsent();
  return sum;
}

void GeoCommunicator::exchange_until_stopped() {
  for (;;) {
    std::shared_ptr<Differences> next;
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

Status GeoCommunicator::exchange(const std::shared_ptr<Differences>& differences) {
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
  std::vector<int> sparse;
  std::vector<DenseRequest> dense;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const int number = static_cast<int>(i);
    if (rows_[i] != nullptr) {
      sparse.push_back(number);
    } else {
      dense.push_back({.table = number, .values = dense_[i].received()});
    }
  }
  if (!sparse.empty()) {
    RETURN_IF_ERROR(client().pull_changed(sparse, [&](int table, std::span<const uint64_t> keys, std::span<const float> rows) {
      rows_[static_cast<size_t>(table)]->receive(keys, rows);
      return Status();
    }));
  }
  RETURN_IF_ERROR(client().pull_dense(dense));
  receives_ += 1;
  receive_into_dense();
  return {};
}

void GeoCommunicator::receive_into_dense() {
  gate_.enter_exclusive();
  for (GeoDense& dense : dense_) dense.receive();
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
