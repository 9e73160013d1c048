#include "argosy/ps/server_core.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "argosy/base/notice.h"
#include "argosy/ps/job_spec_wire.h"

namespace argosy::ps {
namespace {

constexpr double kImportGateSeconds = 600;  // changes wait for a moment while a snapshot is cut, and longer while one is loaded

uint64_t draw_boot() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) | 1;
}

}  // namespace

Core::Core(const ServerOptions& options)
    : options_(options),
      durability_(options.settled_durability()),
      name_(fmt::format("server {} ({}, pid {})", options.server, options.address.empty() ? "in this process" : options.address,
                        ::getpid())),
      boot_(draw_boot()),
      run_(options.run, options.server == 0),
      parking_(std::max(2, available_cores()), [this](const CallPtr& call) { dispatch(call); }),
      for_snapshots_(make_snapshot_host()),
      snapshotter_(*for_snapshots_, snapshotter_options()) {}

Core::~Core() { (void)stop(false); }

void Core::start(std::function<rpc::ServerCounters()> counters) {
  counters_ = std::move(counters);
  keeper_ = Thread("ps-keeper", [this] { keep(); });
  snapshotter_.start();
}

uint32_t Core::now_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

void Core::handle(rpc::Request request, rpc::Reply reply) {
  dispatch(std::make_shared<Call>(std::move(request), std::move(reply)));
}

void Core::dispatch(const CallPtr& call) {
  using Handler = void (Core::*)(const CallPtr&);
  static const std::map<int, Handler> handlers = {
      {wire::HELLO, &Core::on_hello},
      {wire::HEARTBEAT, &Core::on_heartbeat},
      {wire::GOODBYE, &Core::on_goodbye},
      {wire::SETTLE_LOSS, &Core::on_settle_loss},
      {wire::INIT_DENSE, &Core::on_init_dense},
      {wire::WAIT_INITIALISED, &Core::on_wait_initialised},
      {wire::PUSH, &Core::on_push},
      {wire::LEAVE, &Core::on_leave},
      {wire::ABANDON, &Core::on_abandon},
      {wire::LEDGER, &Core::on_ledger},
      {wire::STEP_NORMS, &Core::on_step_norms},
      {wire::APPLY_STEP, &Core::on_apply_step},
      {wire::PULL_DENSE, &Core::on_pull_dense},
      {wire::PULL_ROWS, &Core::on_pull_rows},
      {wire::PULL_CHANGED, &Core::on_pull_changed},
      {wire::GATHER, &Core::on_gather},
      {wire::NEXT_FILE, &Core::on_next_file},
      {wire::POST, &Core::on_post},
      {wire::TAKE, &Core::on_take},
      {wire::BEGIN_OPERATION, &Core::on_begin_operation},
      {wire::END_OPERATION, &Core::on_end_operation},
      {wire::SET_RATE, &Core::on_set_rate},
      {wire::SHRINK, &Core::on_shrink},
      {wire::EXPORT_ROWS, &Core::on_export_rows},
      {wire::IMPORT_ROWS, &Core::on_import_rows},
      {wire::IMPORT_DENSE, &Core::on_import_dense},
      {wire::PULL_STATE, &Core::on_pull_state},
      {wire::IMPORT_STATE, &Core::on_import_state},
      {wire::SAVE_SNAPSHOT, &Core::on_save_snapshot},
      {wire::LOAD_SNAPSHOT, &Core::on_load_snapshot},
      {wire::CANCEL_OPERATION, &Core::on_cancel_operation},
      {wire::STATS, &Core::on_stats},
  };
  if (refusing_) return call->fail(Status::unavailable("{} is stopping", name_));
  const auto handler = handlers.find(call->request.method);
  if (handler == handlers.end()) {
    return call->fail(
        Status::unimplemented("{} does not know the method {} of {}", name_, call->request.method, call->request.peer));
  }
  (this->*handler->second)(call);
}

State* Core::admit(const CallPtr& call, const wire::Caller& caller, bool observer) {
  if (Status s = run_.check(caller.run()); !s.ok()) {
    call->fail(s.with_context("worker {} ({}) and {} do not belong together", caller.worker(), call->request.peer, name_));
    return nullptr;
  }
  State* state = state_.load();
  if (state == nullptr) {
    call->fail(caller.incarnation() == 0 ? Status::failed_precondition(
                                               "{} serves no job yet; workers introduce themselves with Hello first ({} did not)",
                                               name_, call->request.peer)
                                         : forgotten(caller));
    return nullptr;
  }
  if (caller.job() != state->job()) {
    call->fail(Status::failed_precondition("{} serves job '{}'; {} belongs to job '{}'", name_, state->job(), call->request.peer,
                                           caller.job()));
    return nullptr;
  }
  if (observer && caller.incarnation() == 0) return state;
  Status s = state->members().check(caller.worker(), caller.incarnation());
  if (s.code() == Code::failed_precondition) s = lossy_ ? readmit(*state, caller) : forgotten(caller);
  if (!s.ok()) {
    call->fail(s);
    return nullptr;
  }
  return state;
}

// A worker that came after the last snapshot goes on as it was: what it did since is lost, as durability=snapshot says.
Status Core::readmit(State& state, const wire::Caller& caller) {
  if (state.members().adopt(caller.worker(), caller.incarnation())) {  // or another call of it was faster
    ++news_;
    ++changes_;
    log_warning("worker {} came after the last snapshot; it goes on, without what it had sent since", caller.worker());
  }
  return state.members().check(caller.worker(), caller.incarnation());
}

Status Core::forgotten(const wire::Caller& caller) const {
  return Status::failed_precondition(
      "{} does not know worker {} any more: it was started again without what it held (durability={}). Start the job again, and "
      "give servers a directory (--directory) so that they keep their state",
      name_, caller.worker(), durability_name(durability_));
}

Result<State::Verdict> Core::commit(const Record& record) {
  State& state = *state_;
  const auto checked = state.check(record);
  if (!checked.ok()) return checked.status().code() == Code::data_loss ? fatal(checked.status()) : checked.status();
  const Verdict verdict = *checked;
  if (verdict != Verdict::change) {
    ++duplicates_;
    return verdict;
  }
  if (journal_ != nullptr) {
    if (const Status logged = journal_->append(record); !logged.ok()) {
      if (record.method == wire::PUSH) state.abandon_push(record);
      report_log_error(logged);
      return logged.code() == Code::unavailable ? logged : fatal(logged);
    }
  }
  if (const Status applied = state.apply(record); !applied.ok()) return fatal(applied);
  ++changes_;
  return verdict;
}

Status Core::import(wire::Method method, const std::string& header, std::span<const std::byte> payload) {
  if (state_.load() == nullptr) return Status::failed_precondition("{} has no job yet whose tables could be filled", name_);
  RETURN_IF_ERROR(gate_.enter_before(Deadline::after_seconds(kImportGateSeconds)).with_context("{}", name_));
  Status status;
  {
    std::lock_guard lock(order_mutex_);
    status = commit({.method = method, .seconds = now_seconds(), .header = header, .payload = payload}).status();
  }
  gate_.leave();
  ++news_;
  parking_.wake(Topic::initialised);
  return status;
}

// One line in a few seconds: a full disk fails every push.
void Core::report_log_error(const Status& status) {
  const int64_t now = std::chrono::duration_cast<std::chrono::seconds>(SteadyClock::now().time_since_epoch()).count();
  if (int64_t last = last_log_error_; now >= last + 5 && last_log_error_.compare_exchange_strong(last, now)) {
    notice(LogLevel::error, "{}", status.message());
  }
}

void Core::advance() {
  State& state = *state_;
  if (!state.is_sync()) return;
  SyncSteps& sync = state.sync();
  if (lossy_ && sync.skip_lost_steps()) {
    state.publish_position();
    log_warning("steps were lost with the last process; the job goes on at step {} of round {}", sync.position().step,
                sync.position().round);
  }
  const bool clips = !state.spec().clip_groups().empty();
  while (!clips && sync.may_commit()) {
    wire::ApplyStepRequest request;
    *request.mutable_step() = to_wire(sync.position());
    const std::string header = request.SerializeAsString();
    if (!commit({.method = wire::APPLY_STEP, .seconds = now_seconds(), .header = header}).ok()) {
      steps_due_ = true;
      break;
    }
  }
  if (options_.on_worker_loss == OnWorkerLoss::shrink) unsettled_ = !sync.unsettled().empty();
  parking_.wake(Topic::position);
}

Status Core::fatal(const Status& status) {
  {
    std::lock_guard lock(end_mutex_);
    if (fatal_.ok()) fatal_ = status;
  }
  notice(LogLevel::error, "cannot go on: {}", status.message());
  refusing_ = true;
  end_changed_.notify_all();
  return Status::unavailable("{} cannot go on and has to be started again: {}", name_, status.message());
}

Result<bool> Core::wait(Deadline deadline) {
  std::unique_lock lock(end_mutex_);
  const bool over = end_changed_.wait_until(lock, deadline.when(), [this] { return ended_ || stopping_ || !fatal_.ok(); });
  if (!fatal_.ok()) return fatal_;
  return over;
}

Status Core::stop(bool with_snapshot) {
  bool healthy = true;
  {
    std::lock_guard lock(end_mutex_);
    if (stopping_) return {};
    stopping_ = true;
    healthy = fatal_.ok();
  }
  refusing_ = true;
  end_changed_.notify_all();
  keeper_.join();
  snapshotter_.stop();
  parking_.stop();
  if (!with_snapshot || !healthy) return {};
  if (snapshotter_.unsaved() && durability_ != Durability::none) RETURN_IF_ERROR(snapshotter_.cut());
  note_run(true);
  return {};
}

}  // namespace argosy::ps
