#include "argosy/ps/server_core.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "argosy/base/identity.h"
#include "argosy/base/notice.h"
#include "argosy/base/plant.h"
#include "argosy/ps/job_spec_wire.h"

namespace argosy::ps {
namespace {

constexpr double kImportGateSeconds = 600;  // changes wait for a moment while a snapshot is cut, and longer while one is loaded

}  // namespace

Core::Core(const ServerOptions& options)
    : options_(options),
      durability_(options.settled_durability()),
      name_(fmt::format("server {} ({}, pid {})", options.server, options.address.empty() ? "in this process" : options.address,
                        ::getpid())),
      boot_(draw_identity()),
      run_(options.run, options.server == 0),
      limits_(options),
      parking_(
          std::max(2, available_cores()), [this](const CallPtr& call) { dispatch(call); }, limits_.parked_calls,
          limits_.parked_bytes),
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

rpc::Lane Core::lane_of(uint16_t method) {
  switch (method) {
    case wire::HEARTBEAT:
    case wire::ABANDON: return rpc::Lane::urgent;
    case wire::PULL_DENSE:
    case wire::PULL_ROWS:
    case wire::PULL_CHANGED:
    case wire::PULL_STATE:
    case wire::EXPORT_ROWS:
    case wire::STEP_NORMS:
    case wire::TAKE:
    case wire::WAIT_INITIALISED:
    case wire::LEDGER:
    case wire::BEGIN_OPERATION:
    case wire::COMPARE:
    case wire::STATS: return rpc::Lane::read;
    default: return rpc::Lane::change;
  }
}

void Core::dispatch(const CallPtr& call) {
  const auto fail = [&](Status status) {
    if (!call->reply.completed()) call->fail(std::move(status));
  };
  try {
    route(call);
  } catch (const std::bad_alloc&) {
    fail(Status::resource_exhausted("{} has no memory for method {} of {} ({} bytes)", name_, call->request.method,
                                    call->request.peer, call->bytes()));
  } catch (const std::exception& error) {
    fail(Status::internal("{} could not handle method {} of {}: {}", name_, call->request.method, call->request.peer,
                          error.what()));
  }
}

void Core::route(const CallPtr& call) {
  using Handler = void (Core::*)(const CallPtr&);
  static const std::map<int, Handler> handlers = {
      {wire::HELLO, &Core::on_hello},
      {wire::HEARTBEAT, &Core::on_heartbeat},
      {wire::GOODBYE, &Core::on_goodbye},
      {wire::SETTLE_LOSS, &Core::on_settle_loss},
      {wire::COMPARE, &Core::on_compare},
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

State* Core::admit(const CallPtr& call, const wire::Caller& caller, Allow allow) {
  if (Status s = run_.check(caller.run()); caller.incarnation() != 0 && !s.ok() && !ARGOSY_PLANTED("another_run_admitted")) {
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
  if (Status s = check_caller(*state, caller, allow); !s.ok()) {
    call->fail(s.code() == Code::unauthenticated ? s.with_context("{}", call->request.peer) : s);
    return nullptr;
  }
  return state;
}

Status Core::check_caller(State& state, const wire::Caller& caller, Allow allow) {
  if (caller.incarnation() == 0) {
    return Status::unauthenticated("{} answers nothing before Hello; say Hello first, as a worker or as an observer", name_);
  }
  if (Observers::is_number(caller.incarnation())) {
    if (allow != Allow::observers) return Status::failed_precondition("an observer only reads; {} does this for workers", name_);
    if (observers_.knows(caller.incarnation())) return {};
    return Status::unauthenticated("{} does not know this observer (any more); say Hello again", name_);
  }
  bool compared = false;
  Status s = state.members().check(caller.worker(), caller.incarnation(), &compared);
  if (s.code() == Code::failed_precondition) s = lossy_ ? readmit(state, caller) : forgotten(caller);
  if (!s.ok() || compared || allow == Allow::not_compared || ARGOSY_PLANTED("restart_not_compared")) return s;
  return Status::unauthenticated("{} was started again, and worker {} has not compared yet what it has", name_, caller.worker());
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

namespace {

bool makes_rows(wire::Method method) {
  return method == wire::PUSH || method == wire::IMPORT_ROWS || method == wire::IMPORT_STATE;
}

// Whether rows that a table has moved to disk can no longer be trusted.
bool is_overflow_broken(const Tables& tables) {
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables.is_sparse(i) && tables.sparse(i).check_room().code() == Code::data_loss) return true;
  }
  return false;
}

// What `work` returns, or an error for what it throws.
template <typename Work>
auto caught(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Status::resource_exhausted("there is no memory for it");
  } catch (const std::exception& error) {
    return Status::internal("{}", error.what());
  }
}

}  // namespace

Status Core::no_turn(const Call& call) const {
  return Status::unavailable("{}: the changes before this one were not done in {:.1f} s; its disk may hang. Try again", name_,
                             call.waited_seconds());
}

Result<State::Verdict> Core::commit(const Record& record) {
  State& state = *state_;
  const auto checked = state.check(record);
  if (!checked.ok()) {
    // A worker whose passes do not fit is refused with data_loss too: that ends the worker, not the server.
    const bool lost = makes_rows(record.method) && checked.status().code() == Code::data_loss;
    return lost && is_overflow_broken(state.tables()) ? fatal(checked.status()) : checked.status();
  }
  const Verdict verdict = *checked;
  if (verdict != Verdict::change) {
    ++duplicates_;
    return verdict;
  }
  if (journal_ != nullptr && !ARGOSY_PLANTED_EVERY("ack_before_log", 5)) {
    if (const Status logged = caught([&] { return journal_->append(record); }); !logged.ok()) {
      if (record.method == wire::PUSH && !ARGOSY_PLANTED("under_way_forever")) state.abandon_push(record);
      report_log_error(logged);
      return logged.code() == Code::unavailable ? logged : fatal(logged);
    }
  }
  if (const Status applied = caught([&] { return state.apply(record); }); !applied.ok()) return fatal(applied);
  ++changes_;
  return verdict;
}

Status Core::import(wire::Method method, const std::string& header, std::span<const std::byte> payload) {
  if (state_.load() == nullptr) return Status::failed_precondition("{} has no job yet whose tables could be filled", name_);
  RETURN_IF_ERROR(gate_.enter_before(Deadline::after_seconds(kImportGateSeconds)).with_context("{}", name_));
  Status status = Status::unavailable("{}: the changes before this one were not done in {} s", name_, kImportGateSeconds);
  if (std::unique_lock turn(turn_, Deadline::after_seconds(kImportGateSeconds).when()); turn.owns_lock())
    status = commit({.method = method, .seconds = now_seconds(), .header = header, .payload = payload}).status();
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
  const auto due = [&] {
    std::lock_guard lock(state.mutex());
    return sync.may_commit();
  };
  {
    std::lock_guard lock(state.mutex());
    if (lossy_ && sync.skip_lost_steps()) {
      state.publish_position();
      log_warning("steps were lost with the last process; the job goes on at step {} of round {}", sync.position().step,
                  sync.position().round);
    }
  }
  const bool clips = !state.spec().clip_groups().empty();
  while (!clips && due()) {
    wire::ApplyStepRequest request;
    *request.mutable_step() = to_wire(state.position());
    const std::string header = request.SerializeAsString();
    if (!commit({.method = wire::APPLY_STEP, .seconds = now_seconds(), .header = header}).ok()) {
      steps_due_ = true;
      break;
    }
  }
  if (options_.on_worker_loss == OnWorkerLoss::shrink) {
    std::lock_guard lock(state.mutex());
    unsettled_ = !sync.unsettled().empty();
  }
  parking_.wake(Topic::position);
}

// Who sets the flag and finds the turn taken may go: the one that has it looks at the flag after it has given it back.
void Core::advance_if_due() {
  while (advance_due_) {
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) return;
    if (advance_due_.exchange(false)) advance();
  }
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
