// Snapshots: cut from time to time for this server's own recovery, and saved and loaded for users.
#include <algorithm>

#include "argosy/base/log.h"
#include "argosy/base/random.h"
#include "argosy/ps/server_core.h"
#include "argosy/ps/state_snapshot.h"
#include "argosy/table/snapshot_store.h"

namespace argosy::ps {
namespace {

constexpr double kCloseSeconds = 60;  // changes under way end in milliseconds, unless the disk hangs
constexpr double kRetrySeconds = 10;  // after a snapshot that failed
constexpr double kLoadSeconds = 1800;  // for a snapshot of any size

std::filesystem::path saving_folder(const std::string& folder) { return folder + ".saving"; }

uint64_t random_id() {
  Random random(static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()));
  return random() | 1;
}

std::vector<uint64_t> table_steps(const Tables& tables) {
  std::vector<uint64_t> steps;
  for (size_t i = 0; i < tables.size(); ++i) steps.push_back(tables.is_sparse(i) ? tables.sparse(i).steps() : 0);
  return steps;
}

}  // namespace

// Changes wait while it lives.
class Core::Frozen {
 public:
  explicit Frozen(Core& core) : core_(core), status_(core.gate_.close(Deadline::after_seconds(kCloseSeconds))) {}
  ~Frozen() { thaw(); }
  Frozen(const Frozen&) = delete;

  const Status& status() const { return status_; }
  void thaw() {
    if (!status_.ok() || thawed_) return;
    thawed_ = true;
    seconds_ = watch_.seconds();
    core_.last_pause_ = seconds_;
    core_.gate_.open();
    core_.parking_.wake(Topic::thaw);
  }
  double seconds() const { return seconds_; }

 private:
  Core& core_;
  Stopwatch watch_;
  Status status_;
  bool thawed_ = false;
  double seconds_ = 0;
};

// Calls that change nothing that lasts still move things in the state, such as which letters have arrived.
wire::StateImage Core::state_image() {
  const std::lock_guard turn(order_mutex_);
  const std::lock_guard lock(state_mutex_);
  return state_.load()->image();
}

void Core::run_snapshots() {
  for (;;) {
    CallPtr call;
    const QueueState popped = snapshot_calls_.pop(call, Deadline::after_seconds(0.1));
    if (popped == QueueState::closed) return;
    if (popped == QueueState::ok) {
      call->method() == wire::SAVE_SNAPSHOT ? save(call) : load(call);
    } else if (state_.load() != nullptr && durability_ != Durability::none) {
      snapshot_when_due();
    }
  }
}

void Core::snapshot_when_due() {
  const bool changed = changes_ != changes_at_snapshot_;
  const bool full = journal_ != nullptr && journal_->log().snapshot_due();
  const bool time = options_.snapshot_seconds > 0 && since_snapshot_.seconds() > options_.snapshot_seconds;
  // Without a log, workers that have come since, and first values, would not be known to the next process.
  const bool news = durability_ == Durability::snapshot && news_ != news_at_snapshot_;
  if (!changed || !(full || time || news) || retry_at_ > SteadyClock::now()) return;
  if (const Status s = cut_snapshot(); !s.ok()) {
    log_error("no snapshot could be cut, the next try is in {} s: {}", kRetrySeconds, s.message());
    retry_at_ = Deadline::after_seconds(kRetrySeconds).when();
  }
}

// A snapshot for recovery. Tables are written while changes wait; it is made safe, and the log cut, while they go on.
Status Core::cut_snapshot() {
  const std::filesystem::path root = options_.directory / "snapshots";
  const table::OneServer me{static_cast<uint32_t>(options_.server), static_cast<uint32_t>(options_.servers)};
  Frozen frozen(*this);
  RETURN_IF_ERROR(frozen.status());
  const uint64_t changes = changes_, news = news_;
  wire::StateImage image = state_image();
  if (journal_ != nullptr) {
    ASSIGN_OR_RETURN(const uint64_t position, journal_->log().rotate());
    image.set_log_position(position);
  }
  const table::SnapshotInfo info{.id = random_id(), .step = image.batches(), .server = me.server, .servers = me.servers};
  ASSIGN_OR_RETURN(auto writer, table::SnapshotWriter::open(table::numbered_snapshot(root, next_number_), info));
  ASSIGN_OR_RETURN(const WrittenTables written, write_tables(state_.load()->tables(), nullptr, *writer));
  frozen.thaw();
  RETURN_IF_ERROR(writer->commit(image.SerializeAsString()));
  log_info("snapshot {}: {} rows, {} bytes; pushes waited {:.3f} s", next_number_, written.rows, written.bytes, frozen.seconds());
  ++next_number_;
  ++snapshots_;
  changes_at_snapshot_ = changes;
  news_at_snapshot_ = news;
  since_snapshot_.restart();
  if (journal_ != nullptr) RETURN_IF_ERROR(journal_->log().drop_before(image.log_position()));
  return table::keep_newest_snapshots(root, 1, me);
}

// ---- For users.

void Core::on_save_snapshot(const CallPtr& call) {
  const auto request = read<wire::SaveSnapshotRequest>(call);
  if (!request || admit(call, request->caller()) == nullptr) return;
  if (request->id() == 0) return call->fail(Status::invalid_argument("a snapshot needs an id that is not 0"));
  if (request->folder().empty() || request->folder().back() == '/') {
    return call->fail(Status::invalid_argument("'{}' cannot be the folder of a snapshot", request->folder()));
  }
  enqueue_snapshot(call);
}

void Core::on_load_snapshot(const CallPtr& call) {
  const auto request = read<wire::LoadSnapshotRequest>(call);
  if (!request || admit(call, request->caller()) == nullptr) return;
  enqueue_snapshot(call);
}

void Core::enqueue_snapshot(const CallPtr& call) {
  CallPtr queued = call;
  if (snapshot_calls_.push(std::move(queued), Deadline::after_seconds(0)) != QueueState::ok) {
    call->fail(Status::unavailable("{} has too many snapshots to save", name_));
  }
}

void Core::save(const CallPtr& call) {
  const auto request = read<wire::SaveSnapshotRequest>(call);
  if (!request) return;
  if (!request->publish() && request->id() == saved_id_) return call->send(outgoing(saved_reply_));  // a repeated call
  const auto reply = request->publish() ? publish(*request) : save_part(*request);
  if (!reply.ok()) return call->fail(reply.status());
  if (!request->publish()) {
    saved_id_ = request->id();
    saved_reply_ = *reply;
  }
  call->send(outgoing(*reply));
}

Result<wire::SaveSnapshotReply> Core::publish(const wire::SaveSnapshotRequest& request) {
  const std::filesystem::path written = saving_folder(request.folder());
  std::error_code error;
  if (!std::filesystem::exists(written, error)) {  // a repeated call?
    const auto there = table::Snapshot::open(request.folder());
    if (there.ok() && there->id() == request.id()) return wire::SaveSnapshotReply();
  }
  ASSIGN_OR_RETURN(const auto complete, table::Snapshot::open(written));
  if (complete.id() != request.id()) {
    return Status::failed_precondition("{} holds snapshot {}, not {}: somebody else saves there too", written.string(),
                                       complete.id(), request.id());
  }
  RETURN_IF_ERROR(table::publish_snapshot(written, request.folder()));
  return wire::SaveSnapshotReply();
}

Result<wire::SaveSnapshotReply> Core::save_part(const wire::SaveSnapshotRequest& request) {
  State& state = *state_;
  table::SnapshotInfo info{
      .id = request.id(), .server = static_cast<uint32_t>(options_.server), .servers = static_cast<uint32_t>(options_.servers)};
  Frozen frozen(*this);
  RETURN_IF_ERROR(frozen.status());
  info.step = state.rate_step();
  if (request.kind() != wire::FULL) info.kind = table::SnapshotKind::base;
  if (request.kind() == wire::DELTA) {
    ASSIGN_OR_RETURN(info.parent, delta_parent(request.folder()));
    info.kind = table::SnapshotKind::delta;
  }
  wire::StateImage image;
  if (request.kind() == wire::FULL) image = state_image();
  image.set_extra(request.extra());
  const std::filesystem::path folder = saving_folder(request.folder());
  ASSIGN_OR_RETURN(auto writer, table::SnapshotWriter::open(folder, info));
  ASSIGN_OR_RETURN(const WrittenTables written,
                   write_tables(state.tables(), request.kind() == wire::DELTA ? &state.saved() : nullptr, *writer));
  wire::SavedRecord saved;
  saved.set_folder(request.folder());
  saved.set_id(request.id());
  for (const uint64_t steps : table_steps(state.tables())) saved.add_steps(steps);
  saved.set_shrinks(state.shrinks());
  frozen.thaw();
  RETURN_IF_ERROR(writer->commit(image.SerializeAsString()));
  if (request.kind() != wire::FULL) RETURN_IF_ERROR(remember_saved(saved));
  wire::SaveSnapshotReply reply;
  reply.set_part(table::server_folder(folder, info.server, info.servers).filename().string());
  reply.set_rows(written.rows);
  reply.set_bytes(written.bytes);
  reply.set_pause_seconds(frozen.seconds());
  return reply;
}

// What a delta into `folder` builds on.
Result<table::SnapshotParent> Core::delta_parent(const std::string& folder) const {
  const wire::SavedRecord& saved = state_.load()->saved();
  const std::filesystem::path parent = saved.folder(), here = folder;
  if (saved.id() == 0) {
    return Status::failed_precondition("a delta has nothing to build on: no base was saved, or rows were set since; save a base");
  }
  if (parent.parent_path() != here.parent_path() || parent == here) {
    return Status::invalid_argument("a delta has to lie beside what it builds on, {}; {} does not", saved.folder(), folder);
  }
  return table::SnapshotParent{parent.filename().string(), saved.id()};
}

Status Core::remember_saved(const wire::SavedRecord& saved) {
  const std::string header = saved.SerializeAsString();
  if (!gate_.enter()) return Status::internal("the gate is closed");
  std::unique_lock lock(order_mutex_);
  const auto verdict = commit({.method = wire::SAVE_SNAPSHOT, .seconds = now_seconds(), .header = header});
  lock.unlock();
  gate_.leave();
  return verdict.status();
}

namespace {

// Where the answer to a call of this process arrives.
class OwnAnswer : public rpc::ReplySink {
 public:
  void finish(Status status, std::string header, std::vector<rpc::Slice>) override {
    std::lock_guard lock(mutex_);
    result_ = status.ok() ? Result<std::string>(std::move(header)) : Result<std::string>(std::move(status));
    arrived_.notify_all();
  }
  bool cancelled() const override { return false; }

  Result<std::string> wait(Deadline deadline) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_until(lock, deadline.when(), [this] { return result_.has_value(); }))
      return Status::deadline_exceeded("no answer came in {} s", kLoadSeconds);
    return *result_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<Result<std::string>> result_;  // guarded by mutex_
};

}  // namespace

// On the thread of all snapshots, as a call of a worker is.
Result<wire::LoadSnapshotReply> Core::load_snapshot(const wire::LoadSnapshotRequest& request) {
  if (state_.load() == nullptr) return Status::failed_precondition("{} has no job yet whose tables could be filled", name_);
  const Deadline deadline = Deadline::after_seconds(kLoadSeconds);
  const auto answer = std::make_shared<OwnAnswer>();
  enqueue_snapshot(std::make_shared<Call>(rpc::Request{.method = static_cast<uint16_t>(wire::LOAD_SNAPSHOT),
                                                       .header = request.SerializeAsString(),
                                                       .payload = {},
                                                       .peer = "this process",
                                                       .deadline = deadline},
                                          rpc::Reply(answer)));
  ASSIGN_OR_RETURN(const std::string header, answer->wait(deadline));
  wire::LoadSnapshotReply reply;
  ARGOSY_CHECK(reply.ParseFromString(header), "an answer of this process");
  return reply;
}

void Core::load(const CallPtr& call) {
  const auto request = read<wire::LoadSnapshotRequest>(call);
  if (!request) return;
  const auto reply = load_part(*request);
  reply.ok() ? call->send(outgoing(*reply)) : call->fail(reply.status());
}

Result<wire::LoadSnapshotReply> Core::load_part(const wire::LoadSnapshotRequest& request) {
  ASSIGN_OR_RETURN(const auto snapshot, table::Snapshot::open(request.folder()));
  RETURN_IF_ERROR(snapshot.verify());
  wire::LoadSnapshotReply reply;
  wire::StateImage image;
  if (!snapshot.states().empty() && image.ParseFromString(snapshot.states()[0])) reply.set_extra(image.extra());
  {
    Frozen frozen(*this);
    RETURN_IF_ERROR(frozen.status());
    auto report = read_tables(snapshot, state_.load()->tables(), {request.tables().begin(), request.tables().end()});
    if (!report.ok()) {
      log_error("a snapshot was loaded in part: {}", report.status().message());
      return report.status().with_context("{}", request.folder());
    }
    for (wire::TableReport& table : *report) *reply.add_tables() = std::move(table);
    std::lock_guard lock(order_mutex_);
    state_.load()->forget_saved();
    ++changes_;
  }
  parking_.wake(Topic::initialised);
  // What was loaded is not in the log: a snapshot holds it from now on.
  if (durability_ != Durability::none) RETURN_IF_ERROR(cut_snapshot());
  return reply;
}

}  // namespace argosy::ps
