#include "argosy/fleet/remote_worker.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "argosy/base/counted.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/notice.h"
#include "argosy/engine/program/scope.h"
#include "argosy/fleet/table_rows.h"
#include "argosy/ps/communicator/make_communicator.h"

namespace argosy::fleet {
namespace {

std::span<float> floats_of(const engine::Value& value) {
  return {value.tensor.data_ptr<float>(), static_cast<size_t>(value.tensor.numel())};
}

Status has_left() { return Status::failed_precondition("this worker has left its job (stop_worker or exe.close)"); }

}  // namespace

RemoteWorker::RemoteWorker(Plan plan, ps::ClientOptions client, ps::CommunicatorOptions communicator)
    : plan_(std::move(plan)),
      variables_(plan_.variables()),
      client_options_(std::move(client)),
      communicator_options_(std::move(communicator)) {}

RemoteWorker::~RemoteWorker() {
  if (Status status = close(); !status.ok()) log_warning("leaving the job: {}", status.message());
}

Status RemoteWorker::connect() {
  MutexLock lock(mutex_);
  return connect_locked();
}

Status RemoteWorker::connect_locked() {
  if (closed_) return has_left();
  if (client_ != nullptr) return {};
  ASSIGN_OR_RETURN(client_, ps::Client::connect(client_options_, plan_.spec));
  return {};
}

bool RemoteWorker::connected() const {
  MutexLock lock(mutex_);
  return client_ != nullptr && !closed_;
}

ps::Client& RemoteWorker::client() {
  MutexLock lock(mutex_);
  ARGOSY_CHECK(client_ != nullptr, "client() before connect()");
  return *client_;
}

const engine::RemoteVariable* RemoteWorker::find(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

Status RemoteWorker::attach(engine::Scope& scope) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(connect_locked());
  if (!started_) return start(scope);
  // The startup program has made new tensors; the communicator writes to the first ones.
  for (const auto& [table, value] : dense_) scope.var(plan_.spec.tables[static_cast<size_t>(table)].name) = value;
  return communicator_->refresh();
}

Status RemoteWorker::start(engine::Scope& scope) {
  for (size_t i = 0; i < plan_.spec.tables.size(); ++i) {
    const ps::TableSpec& table = plan_.spec.tables[i];
    if (table.sparse) continue;
    const engine::Value* value = scope.find(table.name);
    if (value == nullptr || !value->tensor.defined()) {
      return Status::failed_precondition("parameter '{}' has no value in this scope; the startup program makes it", table.name);
    }
    if (!value->tensor.is_contiguous() || value->tensor.scalar_type() != at::kFloat ||
        static_cast<uint64_t>(value->tensor.numel()) != table.size) {
      return Status::internal("parameter '{}' is not {} contiguous float32 values", table.name, table.size);
    }
    dense_[static_cast<int>(i)] = *value;
  }
  ASSIGN_OR_RETURN(auto communicator, bound_communicator());
  if (client_options_.worker == 0) RETURN_IF_ERROR(give_first_values());
  RETURN_IF_ERROR(client_->wait_initialised(Deadline::after_seconds(client_options_.server_wait_seconds)));
  RETURN_IF_ERROR(communicator->start());
  communicator_ = std::move(communicator);
  started_ = true;
  return {};
}

Result<std::unique_ptr<ps::Communicator>> RemoteWorker::bound_communicator() {
  ASSIGN_OR_RETURN(auto communicator, ps::make_communicator(communicator_options_, *client_));
  for (const auto& [table, value] : dense_) RETURN_IF_ERROR(communicator->bind_dense(table, floats_of(value)));
  return communicator;
}

Status RemoteWorker::meet_threads() {
  MutexLock lock(mutex_);
  if (closed_) return has_left();
  if (plan_.spec.mode == ps::Mode::half_async || communicator_options_.threads_meet) return {};
  if (plan_.spec.mode != ps::Mode::async)
    return Status::failed_precondition("a job in {} mode cannot become a half-async one; only an async one can",
                                       ps::mode_name(plan_.spec.mode));
  if (!started_) return communicator_options_.threads_meet = true, Status();
  if (const ps::CommunicatorCounters counters = communicator_->counters(); counters.merged_batches > 0)
    return Status::failed_precondition("this worker has sent {} already; a job becomes half-async before its first batch",
                                       counted(counters.merged_batches, "batch"));
  communicator_options_.threads_meet = true;
  communicator_.reset();
  ASSIGN_OR_RETURN(communicator_, bound_communicator());
  return communicator_->start();
}

Status RemoteWorker::give_first_values() {
  for (const auto& [table, value] : dense_) RETURN_IF_ERROR(client_->init_dense(table, floats_of(value)));
  return {};
}

Status RemoteWorker::running() const {
  if (closed_) return has_left();
  if (started_) return {};
  return Status::failed_precondition("this worker is not connected to its servers; run the startup program first");
}

Result<bool> RemoteWorker::begin_round(int threads) {
  RETURN_IF_ERROR(running());
  return communicator_->begin_round(threads);
}

Status RemoteWorker::thread_done() { return communicator_->thread_done(); }
void RemoteWorker::thread_failed(const Status& why) { communicator_->thread_failed(why); }
Status RemoteWorker::end_round(const ReadCounters& counters) { return communicator_->end_round(counters); }
void RemoteWorker::abandon_round(const Status& why) {
  if (started_ && !closed_) communicator_->abandon_round(why);
}
bool RemoteWorker::lost_batches() const { return started_ && communicator_->went_back(); }

Status RemoteWorker::begin_parallel(int threads) {
  RETURN_IF_ERROR(running());
  return communicator_->begin_parallel(threads);
}
Status RemoteWorker::end_parallel() { return communicator_->end_parallel(); }

BatchId RemoteWorker::begin_batch() { return communicator_->begin_batch(); }
BatchId RemoteWorker::begin_batch(uint32_t number, uint32_t samples, std::span<const FileLineRange> lines) {
  return communicator_->begin_batch(number, samples, lines);
}
uint32_t RemoteWorker::round() const { return ps::round_of(position()); }
void RemoteWorker::drop_batch(BatchId batch) { communicator_->drop_batch(batch); }
bool RemoteWorker::wants(BatchId batch) const { return communicator_->wants(batch); }

Status RemoteWorker::pull(std::span<const RowRequest> requests) {
  RETURN_IF_ERROR(running());
  return communicator_->pull(requests);
}

Status RemoteWorker::before_prefetch() {
  RETURN_IF_ERROR(running());
  return communicator_->before_prefetch();
}

Status RemoteWorker::step(const StepGradients& gradients) {
  RETURN_IF_ERROR(running());
  return communicator_->step(gradients);
}

Status RemoteWorker::refresh() { return started_ ? communicator_->refresh() : Status(); }

Status RemoteWorker::before_gathering() { return started_ ? communicator_->before_gathering() : Status(); }

// A table takes any key; what is fetched as a tensor has the declared rows only.
void RemoteWorker::warn_of_undeclared_rows(int table, uint64_t declared) {
  uint64_t others = 0, first = std::numeric_limits<uint64_t>::max();
  const Status seen = client_->for_each_row(table, [&](std::span<const uint64_t> keys, std::span<const float>) {
    for (const uint64_t key : keys) {
      if (key < declared) continue;
      ++others;
      first = std::min(first, key);
    }
    return Status();
  });
  const std::string& name = plan_.spec.tables[static_cast<size_t>(table)].name;
  if (!seen.ok()) log_warning("table '{}': cannot tell whether it has rows beyond the declared ones: {}", name, seen.message());
  if (others == 0) return;
  const std::string text = fmt::format(
      "table '{}': {} of ids outside 0 … {} (the first is {}) were trained, which its declared size leaves out: they are not in "
      "what is fetched or saved from here; save_snapshot() keeps all rows, and a larger size or ids modulo the size would "
      "include "
      "them",
      name, counted(others, "row"), declared - 1, static_cast<int64_t>(first));
  MutexLock lock(said_mutex_);
  if (undeclared_said_.insert(table).second)
    notice_line(LogLevel::warning, text);
  else
    log_line(LogLevel::warning, text);
}

Status RemoteWorker::fetch(std::string_view name, std::span<float> values) {
  RETURN_IF_ERROR(running());
  const engine::RemoteVariable* variable = find(name);
  if (variable == nullptr) return Status::not_found("the servers hold no variable '{}'", name);
  if (variable->kind == engine::RemoteVariable::state) return fetch_state(name, values);
  const ps::TableSpec& table = plan_.spec.tables[static_cast<size_t>(variable->table)];
  if (!table.sparse) {
    const ps::DenseRequest request{.table = variable->table, .values = values};
    return client_->pull_dense({&request, 1});
  }
  warn_of_undeclared_rows(variable->table, values.size() / table.width);
  return for_all_rows(values.size() / table.width, [&](std::span<const uint64_t> keys, size_t begin) {
    const RowRequest request{
        .table = variable->table, .keys = keys, .rows = values.data() + begin * table.width, .create = false};
    return client_->pull_rows({&request, 1});
  });
}

Status RemoteWorker::store(std::string_view name, std::span<const float> values) {
  RETURN_IF_ERROR(running());
  const engine::RemoteVariable* variable = find(name);
  if (variable == nullptr) return Status::not_found("the servers hold no variable '{}'", name);
  if (variable->kind == engine::RemoteVariable::state) return store_state(name, values);
  const ps::TableSpec& table = plan_.spec.tables[static_cast<size_t>(variable->table)];
  if (!table.sparse) return communicator_->store_dense(variable->table, values);
  return for_all_rows(values.size() / table.width, [&](std::span<const uint64_t> keys, size_t begin) {
    return communicator_->store_rows(variable->table, keys, values.subspan(begin * table.width, keys.size() * table.width));
  });
}

Status RemoteWorker::fetch_state(std::string_view name, std::span<float> values) {
  const Plan::State& state = plan_.states.find(name)->second;
  const ps::TableSpec& table = plan_.spec.tables[static_cast<size_t>(state.table)];
  if (!table.sparse || values.size() == 1) return client_->pull_state(state.table, state.slot, {}, values);
  return for_all_rows(values.size() / table.width, [&](std::span<const uint64_t> keys, size_t begin) {
    return client_->pull_state(state.table, state.slot, keys, values.subspan(begin * table.width, keys.size() * table.width));
  });
}

Status RemoteWorker::store_state(std::string_view name, std::span<const float> values) {
  const Plan::State& state = plan_.states.find(name)->second;
  const ps::TableSpec& table = plan_.spec.tables[static_cast<size_t>(state.table)];
  if (!table.sparse || values.size() == 1) return client_->import_state(state.table, state.slot, {}, values);
  return for_all_rows(values.size() / table.width, [&](std::span<const uint64_t> keys, size_t begin) {
    return client_->import_state(state.table, state.slot, keys, values.subspan(begin * table.width, keys.size() * table.width));
  });
}

Result<std::string> RemoteWorker::ledger() {
  RETURN_IF_ERROR(running());
  ASSIGN_OR_RETURN(const ps::JobLedger ledger, client_->ledger());
  return ledger.to_json();
}

BatchId RemoteWorker::position() const { return started_ ? communicator_->next_batch() : 0; }

Result<RemoteWorker::Outcome> RemoteWorker::once(const std::string& kind, const std::string& target, const OperationBody& body) {
  if (!connected()) {
    ASSIGN_OR_RETURN(std::string answer, body(0));
    return Outcome{.answer = std::move(answer)};
  }
  ASSIGN_OR_RETURN(auto outcome, client().once({.kind = kind, .target = target, .position = position()}, body));
  if (outcome.before) {
    log_info("{} '{}' was done before this worker was started again; it is not repeated{}", kind, target,
             outcome.dropped ? ", and what it had answered is not known any more" : "");
  }
  return Outcome{.before = outcome.before, .dropped = outcome.dropped, .answer = std::move(outcome.answer)};
}

Status RemoteWorker::close() {
  MutexLock lock(mutex_);
  if (closed_) return {};
  closed_ = true;
  Status status;
  if (communicator_ != nullptr) status = communicator_->stop();
  if (client_ == nullptr) return status;
  if (status.ok()) return client_->stop();
  client_->fail(fmt::format("did not finish: {}", status.message()));
  return status;
}

Status RemoteWorker::unfinished() const {
  MutexLock lock(mutex_);
  return closed_ || communicator_ == nullptr ? Status() : communicator_->unfinished();
}

void RemoteWorker::fail(const std::string& why) {
  MutexLock lock(mutex_);
  if (closed_.exchange(true)) return;
  if (client_ != nullptr) client_->fail(why);
}

Status RemoteWorker::set_rate(float rate) {
  RETURN_IF_ERROR(running());
  if (plan_.spec.mode == ps::Mode::geo) return communicator_->set_rate(-1, rate);
  return once("set_rate", "all tables",
              [&](uint64_t) -> Result<std::string> {
                RETURN_IF_ERROR(communicator_->set_rate(-1, rate));
                return std::string();
              })
      .status();
}

ps::CommunicatorCounters RemoteWorker::counters() const {
  return started_ ? communicator_->counters() : ps::CommunicatorCounters{};
}

}  // namespace argosy::fleet
