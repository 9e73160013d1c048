#include "argosy/ps/server/server_core.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "argosy/base/identity.h"
#include "argosy/base/log.h"
#include "argosy/base/notice.h"
#include "argosy/ps/server/recovery.h"
#include "argosy/ps/server/replica_record.h"
#include "argosy/ps/state/state_snapshot.h"

namespace argosy::ps {
namespace {

constexpr double kImportSeconds = 600;  // changes wait for a moment while a snapshot is cut, and longer while one is loaded
constexpr double kLoadSeconds = 1800;   // for a snapshot of any size

}  // namespace

Core::Core(const ServerOptions& options, std::unique_ptr<PrimaryLink> primary)
    : options_(options),
      name_(fmt::format("{} {} ({}, pid {})", options.follow.empty() || options.replica ? "server" : "follower of server",
                        options.server, options.address.empty() ? "in this process" : options.address, ::getpid())),
      boot_(draw_identity()),
      run_(options.run, options.server == 0),
      limits_(options),
      parking_(
          std::max(2, available_cores()), [this](const CallPtr& call) { methods_.dispatch(call); }, limits_.parked_calls,
          limits_.parked_bytes),
      changes_(name_, options.on_worker_loss == OnWorkerLoss::shrink, state_, parking_, ending_),
      replication_(options.replica ? std::make_unique<Replication>(options_, name_, changes_, ending_, limits_.held_answers)
                                   : nullptr),
      admission_(name_, options.settled_durability(), run_, observers_, state_, changes_.counts()),
      notes_(options.job, run_, state_, [this](const Status& status) { changes_.report_log_error(status); }),
      snapshot_host_(state_, changes_, parking_, [this] { notes_.note(false); }),
      snapshotter_(snapshot_host_, snapshotter_options()),
      reports_(options.server == 0),
      workers_({.options = options_,
                .state = state_,
                .changes = changes_,
                .parking = parking_,
                .ending = ending_,
                .run = run_,
                .observers = observers_,
                .adoption = adoption_,
                .reports = reports_,
                .replication = replication_.get()},
               name_, boot_),
      feed_({.options = options_,
             .changes = changes_,
             .parking = parking_,
             .followers = limits_.followers,
             .answer = limits_.answer,
             .replication = replication_.get()},
            name_),
      leases_(options_, state_, changes_, parking_, ending_, [this](State& state) { workers_.end_if_done(state); }),
      waiting_(options_, name_, parking_,
               [this](const State& state, const wire::CompareRequest& request) {
                 std::vector<int> missing;
                 (void)workers_.check_expected(state, request, missing);
                 return missing;
               }),
      standby_(options.replica && primary != nullptr
                   ? std::make_unique<Standby>(
                         Standby::Uses{.options = options_, .state = state_, .changes = changes_, .snapshotter = snapshotter_},
                         name_, boot_)
                   : nullptr),
      stands_by_(standby_ != nullptr),
      follower_(primary == nullptr
                    ? nullptr
                    : std::make_unique<Follower>(
                          Follower::Uses{.adoption = adoption_,
                                         .state = state_,
                                         .parking = parking_,
                                         .ending = ending_,
                                         .replica_log = standby_.get(),
                                         .format = standby_ ? WireFormat::float32 : options.follow_format},
                          std::move(primary),
                          options.directory.empty() ? std::filesystem::temp_directory_path() : options.directory)) {
  admission_.set_replication(replication_.get());
  if (standby_ != nullptr) add_standby_methods();
  if (follower_ == nullptr || standby_ != nullptr) {
    add_methods();
    add_tasks();
  } else {
    add_follower_methods();
    add_follower_tasks();
  }
  stats_.set_followers([this](wire::StatsReply& reply) {
    if (replication_ != nullptr) fill(*reply.mutable_replica());
    if (follower_ != nullptr && (standby_ == nullptr || stands_by_)) {
      *reply.mutable_following() = follower_->report();
      reply.mutable_following()->set_answers_from(versions_.answers_from());
    }
    reply.set_followers(feed_.followers());
  });
}

Core::~Core() { (void)stop(false); }

// Every method of a server: its request, its lane, who may call it besides workers, and what answers it.
void Core::add_methods() {
  using enum rpc::Lane;
  using enum Allow;
  const auto greet = [this](const CallPtr& call, wire::HelloRequest& request) { workers_.hello(call, request); };
  const auto goodbye = [](const wire::GoodbyeRequest& request) {
    return request.failed().empty() ? Allow::workers : not_compared;
  };
  const auto reading = [](const wire::PullRowsRequest& request) { return request.create() ? Allow::workers : observers; };

  methods_.add_open<wire::HelloRequest>(wire::HELLO, change, greet);
  methods_.add<wire::HeartbeatRequest>(wire::HEARTBEAT, urgent, not_compared, by(workers_, &WorkerHandlers::heartbeat));
  methods_.add<wire::GoodbyeRequest>(wire::GOODBYE, change, goodbye, by(workers_, &WorkerHandlers::goodbye));
  methods_.add<wire::SettleLossRequest>(wire::SETTLE_LOSS, change, not_compared, by(workers_, &WorkerHandlers::settle_loss));
  methods_.add<wire::CompareRequest>(wire::COMPARE, read, not_compared, by(workers_, &WorkerHandlers::compare));

  methods_.add<wire::PushRequest>(wire::PUSH, change, Allow::workers, by(training_, &TrainingHandlers::push));
  methods_.add<wire::LeaveRequest>(wire::LEAVE, change, Allow::workers, by(training_, &TrainingHandlers::leave));
  methods_.add<wire::AbandonRequest>(wire::ABANDON, urgent, not_compared, by(training_, &TrainingHandlers::abandon));
  methods_.add<wire::LedgerRequest>(wire::LEDGER, read, observers, by(training_, &TrainingHandlers::ledger));
  methods_.add<wire::StepNormsRequest>(wire::STEP_NORMS, read, Allow::workers, by(training_, &TrainingHandlers::step_norms));
  methods_.add<wire::ApplyStepRequest>(wire::APPLY_STEP, change, Allow::workers, by(training_, &TrainingHandlers::apply_step));
  methods_.add<wire::PullDenseRequest>(wire::PULL_DENSE, read, observers, by(training_, &TrainingHandlers::pull_dense));
  methods_.add<wire::PullRowsRequest>(wire::PULL_ROWS, read, reading, by(training_, &TrainingHandlers::pull_rows));
  methods_.add<wire::PullChangedRequest>(wire::PULL_CHANGED, read, Allow::workers,
                                         by(training_, &TrainingHandlers::pull_changed));

  methods_.add<wire::GatherRequest>(wire::GATHER, change, Allow::workers, by(exchange_, &ExchangeHandlers::gather));
  methods_.add<wire::NextFileRequest>(wire::NEXT_FILE, change, Allow::workers, by(exchange_, &ExchangeHandlers::next_file));
  methods_.add<wire::PostRequest>(wire::POST, change, Allow::workers, by(exchange_, &ExchangeHandlers::post));
  methods_.add<wire::TakeRequest>(wire::TAKE, read, Allow::workers, by(exchange_, &ExchangeHandlers::take));
  methods_.add<wire::BeginOperationRequest>(wire::BEGIN_OPERATION, read, Allow::workers,
                                            by(exchange_, &ExchangeHandlers::begin_operation));
  methods_.add<wire::EndOperationRequest>(wire::END_OPERATION, change, Allow::workers,
                                          by(exchange_, &ExchangeHandlers::end_operation));

  methods_.add<wire::InitDenseRequest>(wire::INIT_DENSE, change, Allow::workers, by(tables_, &TableHandlers::init_dense));
  methods_.add<wire::WaitInitialisedRequest>(wire::WAIT_INITIALISED, read, Allow::workers,
                                             by(tables_, &TableHandlers::wait_initialised));
  methods_.add<wire::SetRateRequest>(wire::SET_RATE, change, Allow::workers, by(tables_, &TableHandlers::set_rate));
  methods_.add<wire::ShrinkRequest>(wire::SHRINK, change, Allow::workers, by(tables_, &TableHandlers::shrink));
  methods_.add<wire::ExportRowsRequest>(wire::EXPORT_ROWS, read, observers, by(tables_, &TableHandlers::export_rows));
  methods_.add<wire::ImportRowsRequest>(wire::IMPORT_ROWS, change, Allow::workers, by(tables_, &TableHandlers::import_rows));
  methods_.add<wire::ImportDenseRequest>(wire::IMPORT_DENSE, change, Allow::workers, by(tables_, &TableHandlers::import_dense));
  methods_.add<wire::PullStateRequest>(wire::PULL_STATE, read, observers, by(tables_, &TableHandlers::pull_state));
  methods_.add<wire::ImportStateRequest>(wire::IMPORT_STATE, change, Allow::workers, by(tables_, &TableHandlers::import_state));
  methods_.add<wire::StatsRequest>(wire::STATS, read, observers, by(stats_, &StatsHandler::stats));
  methods_.add<wire::FollowRequest>(wire::FOLLOW, read, observers, by(feed_, &LogFeed::follow));
  methods_.add<wire::CopySnapshotRequest>(wire::COPY_SNAPSHOT, read, observers, by(snapshot_feed_, &SnapshotFeed::copy));
  const auto versions = [this](const CallPtr& call, State&, const wire::VersionsRequest&) {
    call->fail(Status::failed_precondition("{} is no follower: it has its newest version only. Ask its followers", name_));
  };
  methods_.add<wire::VersionsRequest>(wire::VERSIONS, read, observers, versions);
  add_snapshot_methods();
}

void Core::add_snapshot_methods() {
  const auto save = [this](const CallPtr& call, State&, const wire::SaveSnapshotRequest& request) {
    snapshotter_.save(request, call);
  };
  const auto load = [this](const CallPtr& call, State&, const wire::LoadSnapshotRequest& request) {
    snapshotter_.load(request, call);
  };
  const auto cancel = [this](const CallPtr& call, State&, const wire::CancelOperationRequest& request) {
    wire::CancelOperationReply reply;
    reply.set_cancelled(snapshotter_.cancel(request));
    call->send(outgoing(reply));
  };
  methods_.add<wire::SaveSnapshotRequest>(wire::SAVE_SNAPSHOT, rpc::Lane::change, Allow::workers, save);
  methods_.add<wire::LoadSnapshotRequest>(wire::LOAD_SNAPSHOT, rpc::Lane::change, Allow::workers, load);
  methods_.add<wire::CancelOperationRequest>(wire::CANCEL_OPERATION, rpc::Lane::change, Allow::workers, cancel);
}

// What ps-periodic does, and how often; 0: as often as it looks.
void Core::add_tasks() {
  periodic_work_.add(0, [this](double since) {
    if (!stands_by_) leases_.look(since);
  });
  periodic_work_.add(0, [this](double) {
    if (!state_ || stands_by_) return;
    if (replication_ != nullptr) feed_.answer_idle(*state_);
    changes_.retry_steps();
    waiting_.answer_due(*state_);
    snapshotter_.answer_due();
  });
  periodic_work_.add(0.5, [this](double) {
    if (state_) stats_.watch_waiting_keys(*state_);
  });
  periodic_work_.add(10, [this](double) { exports_.drop_idle(); });
}

void Core::start(std::function<rpc::RpcServerCounters()> counters) {
  stats_.set_counters(counters);
  std::function<std::string()> waits_for;
  if (follower_ != nullptr) {
    waits_for = [this] {
      return fmt::format("has not caught up with {} yet; it waits for {}", follower_->primary(), follower_->report().waits_for());
    };
  }
  metrics_.start(std::move(counters), std::move(waits_for));
  periodic_work_.start();
  snapshotter_.start();
  if (follower_ != nullptr) follower_->start();
}

void Core::handle(rpc::Request request, rpc::Reply reply) {
  const auto call = std::make_shared<Call>(std::move(request), std::move(reply));
  if (replication_ != nullptr) {
    if (stands_by_) return standby_methods_.dispatch(call);
    if (is_kept_back(call->method())) call->guard = replication_.get();
  }
  methods_.dispatch(call);
}

SnapshotterOptions Core::snapshotter_options() const {
  return {.directory = options_.directory,
          .server = options_.server,
          .servers = options_.servers,
          .durability = options_.settled_durability(),
          .snapshot_seconds = options_.snapshot_seconds,
          .log_limit_bytes = options_.log_limit_bytes,
          .roots = options_.snapshot_roots};
}

Status Core::stop(bool with_snapshot) {
  if (!ending_.stop()) return {};
  metrics_.stop();
  if (follower_ != nullptr) follower_->stop();
  periodic_work_.join();
  snapshotter_.stop();
  parking_.stop();
  if (replication_ != nullptr) replication_->stop();
  if (stands_by_) return {};  // it has what its primary has, which ends too
  if (!with_snapshot || !ending_.is_healthy()) return {};
  if (snapshotter_.unsaved() && options_.settled_durability() != Durability::none) RETURN_IF_ERROR(snapshotter_.cut());
  notes_.note(true);
  return {};
}

// ---- First values.

Status Core::import(wire::Method method, const std::string& header, std::span<const std::byte> payload) {
  if (!state_) return Status::failed_precondition("{} has no job yet whose tables could be filled", name_);
  const Status status = changes_.commit_own(method, header, payload, Deadline::after_seconds(kImportSeconds));
  ++changes_.counts().news;
  parking_.wake(Topic::initialised);
  return status;
}

Result<wire::LoadSnapshotReply> Core::load_snapshot(const wire::LoadSnapshotRequest& request) {
  if (!state_) return Status::failed_precondition("{} has no job yet whose tables could be filled", name_);
  return snapshotter_.load(request, Deadline::after_seconds(kLoadSeconds));
}

Result<bool> Core::begin_import() {
  if (!adoption_.is_importing()) return false;
  RETURN_IF_ERROR(log_import(false));
  return true;
}

Status Core::end_import() {
  RETURN_IF_ERROR(log_import(true));
  adoption_.set_importing(false);
  return {};
}

Status Core::log_import(bool finished) {
  wire::ImportRecord record;
  record.set_finished(finished);
  return import(wire::IMPORT, record.SerializeAsString(), {});
}

Status Core::take_over(std::span<const table::Snapshot> parts, const wire::StateImage& image) {
  RETURN_IF_ERROR(read_tables(parts, state_->tables()).status());
  RETURN_IF_ERROR(state_->restore(image));
  ++changes_.counts().changes;
  return {};
}

// ---- Recovery.

Status Core::recover() {
  if (options_.settled_durability() != Durability::none && !options_.only_recover) {
    RETURN_IF_ERROR(ServerFolder::check_beside(options_));
    ASSIGN_OR_RETURN(auto opened, ServerFolder::open(options_));
    notes_.set_folder(std::move(opened));
    if (!options_.replica) RETURN_IF_ERROR(check_alone());
    if (notes_.folder()->found()) run_.restore(notes_.folder()->found()->run);
    changes_.set_before_training([this] { return notes_.folder()->mark_trained(); });
  }
  RETURN_IF_ERROR(recover_state());
  adoption_.set_importing(options_.import_first && (!restored_ || (state_ && state_->importing())));
  if (state_ && state_->importing()) RETURN_IF_ERROR(forget_half_import());
  if (state_) {
    state_->members().touch_all();
    changes_.steps_may_be_due();  // the process before may have died between a step's last push and its commit
  }
  return options_.only_recover ? Status() : recover_run();
}

// What one of two processes has left may lack what the other one has acknowledged since.
Status Core::check_alone() const {
  ASSIGN_OR_RETURN(const auto record, read_replica_record(options_.directory));
  if (!record) return {};
  return Status::failed_precondition(
      "'{}' is of one of a server's two processes (replicas=1, epoch {}), and the other one may have more. Start the job with "
      "replicas=1; or, "
      "where this folder is known to be the newest, remove the file EPOCH in it",
      options_.directory.string(), record->epoch);
}

Status Core::recover_state() {
  Recovery recovery(options_, name_, run_, adoption_, state_);
  const Status status = recovery.recover(notes_.folder());
  changes_.set_journal(recovery.take_journal());
  changes_.counts().changes += recovery.records();
  restored_ = recovery.restored();
  if (recovery.lossy()) {
    changes_.set_lossy();
    admission_.set_lossy();
  }
  if (recovery.next_snapshot() > 0) snapshotter_.recovered(recovery.next_snapshot(), recovery.log_start());
  return status;
}

// Which run this process belongs to: that of the one before it, or a new one.
Status Core::recover_run() {
  const ServerFolder* folder = notes_.folder();
  const bool finished = state_ && state_->members().all_done();
  const bool over = finished && folder->same_run();
  if (over) workers_.end_if_done(*state_);  // its process died before it had ended
  if (finished && !over) {
    if (options_.on_old_state != OnOldState::resume) return folder->refusal();
    run_.restore("");
  }
  run_.settle();
  if (finished && !over) RETURN_IF_ERROR(begin_again());
  return notes_.begin(finished && !over);
}

// The tables of a finished run are where the next one begins.
Status Core::begin_again() {
  notice("the run in {} has finished; a new one begins with its tables", options_.directory.string());
  RETURN_IF_ERROR(state_->begin_again());
  return snapshotter_.cut();
}

// The process before died while it was given its first values. Nobody has seen them: it begins with empty tables.
Status Core::forget_half_import() {
  if (!options_.import_first) {
    return Status::failed_precondition(
        "the process before this one died while a model was loaded into {}, which holds a part of it; start the server with the "
        "same "
        "model again (init_server with its folder), or give it another directory",
        options_.directory.string());
  }
  log_warning("the process before died while its tables got their first values; {} begins again with empty ones", name_);
  const JobSpec spec = state_->spec();
  const std::string job = state_->job();
  state_.clear();
  ASSIGN_OR_RETURN(auto made, adoption_.make_state(spec, job));
  state_.set(std::move(made));
  restored_ = false;
  return snapshotter_.cut();
}

}  // namespace argosy::ps
