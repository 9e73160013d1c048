#include "argosy/ps/server/snapshotter.h"

#include <utility>

#include "argosy/base/counted.h"
#include "argosy/base/notice.h"
#include "argosy/base/plant.h"
#include "argosy/base/random.h"
#include "argosy/table/snapshot_part.h"
#include "argosy/table/snapshot_store.h"

namespace argosy::ps {
namespace fs = std::filesystem;
namespace {

constexpr double kRetrySeconds = 10;  // after a snapshot that failed

uint64_t random_id() {
  Random random(static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()));
  return random() | 1;
}

template <typename Message>
Result<std::string> reply_of(const Result<Message>& reply) {
  if (!reply.ok()) return reply.status();
  return serialise(*reply);
}

}  // namespace

Snapshotter::Snapshotter(SnapshotHost& host, SnapshotterOptions options)
    : host_(host),
      options_(std::move(options)),
      root_(options_.directory / "snapshots"),
      roots_(options_.roots, options_.directory) {}

void Snapshotter::recovered(uint64_t next_number, uint64_t log_position) {
  next_number_ = next_number;
  log_position_ = log_position;
}

void Snapshotter::start() {
  thread_ = Thread("ps-snapshot", [this] { run(); });
}

void Snapshotter::stop() {
  operations_.stop();
  queue_.close();
  thread_.join();
  const MutexLock lock(asked_mutex_);
  asked_result_ = Status::unavailable("server {} is stopping", options_.server);
  answered_.notify_all();
}

table::SnapshotInfo Snapshotter::info() const { return {.id = random_id(), .server = me().server, .servers = me().servers}; }

// ---- The thread.

void Snapshotter::run() {
  for (;;) {
    OperationPtr operation;
    const QueueState popped = queue_.pop(operation, Deadline::after_seconds(0.1));
    if (popped == QueueState::closed) return;
    if (popped == QueueState::ok) {
      work(operation);
    } else if (host_.state() != nullptr && options_.durability != Durability::none) {
      cut_if_asked();
      cut_when_due();
      host_.idle();
    }
  }
}

void Snapshotter::cut_when_due() {
  const table::RecordLog* log = host_.log();
  const bool changed = host_.changes() != changes_at_snapshot_;
  const bool full = log != nullptr && log->end() - log_position_ >= static_cast<uint64_t>(options_.log_limit_bytes);
  const bool time = options_.snapshot_seconds > 0 && since_snapshot_.seconds() > options_.snapshot_seconds;
  // Without a log, workers that have come since, and first values, would not be known to the next process.
  const bool news = options_.durability == Durability::snapshot && host_.news() != news_at_snapshot_;
  if (!changed || !(full || time || news) || retry_at_ > SteadyClock::now()) return;
  if (const Status s = cut(); !s.ok()) {
    ++failures_;
    notice(LogLevel::error, "no snapshot could be cut, the next try is in {} s: {}", kRetrySeconds, s.message());
    retry_at_ = Deadline::after_seconds(kRetrySeconds).when();
  }
}

Status Snapshotter::cut_now(Deadline deadline) {
  MutexLock lock(asked_mutex_);
  asked_result_.reset();
  asked_ = true;
  if (!answered_.wait_until(lock, deadline.when(), [this]() ARGOSY_REQUIRES(asked_mutex_) { return asked_result_.has_value(); }))
    return Status::deadline_exceeded("server {} has not cut a snapshot in time", options_.server);
  return *asked_result_;
}

void Snapshotter::cut_if_asked() {
  {
    const MutexLock lock(asked_mutex_);
    if (!std::exchange(asked_, false)) return;
  }
  Status status = cut();
  if (status.ok()) status = trim(1);
  const MutexLock lock(asked_mutex_);
  asked_result_ = status;
  answered_.notify_all();
}

void Snapshotter::enqueue(const OperationPtr& operation) {
  OperationPtr queued = operation;
  if (queue_.push(std::move(queued), Deadline::after_seconds(0)) != QueueState::ok) {
    operations_.finish(operation, Status::unavailable("server {} has too many snapshots to save", options_.server));
  }
}

void Snapshotter::work(const OperationPtr& operation) {
  const Status alive = operation->alive();
  operations_.finish(operation, alive.ok() ? result_of(*operation) : Result<std::string>(alive));
}

Result<std::string> Snapshotter::result_of(Operation& operation) {
  if (operation.key.method == wire::LOAD_SNAPSHOT) {
    wire::LoadSnapshotRequest request;
    if (!request.ParseFromString(operation.request)) return Status::invalid_argument("the request cannot be read");
    return reply_of(load_tables(operation, request));
  }
  wire::SaveSnapshotRequest request;
  if (!request.ParseFromString(operation.request)) return Status::invalid_argument("the request cannot be read");
  return reply_of(request.publish() ? publish(request) : save_part(operation, request));
}

void Snapshotter::save(const wire::SaveSnapshotRequest& request, const CallPtr& call) {
  if (request.id() == 0) return call->fail(Status::invalid_argument("a snapshot needs an id that is not 0"));
  const auto operation =
      operations_.ask({wire::SAVE_SNAPSHOT, request.id(), request.publish()}, request.caller(), request.attempt(), call);
  if (operation != nullptr) enqueue(operation);
}

void Snapshotter::load(const wire::LoadSnapshotRequest& request, const CallPtr& call) {
  if (request.id() == 0) return call->fail(Status::invalid_argument("the load of a snapshot needs an id that is not 0"));
  const auto operation = operations_.ask({wire::LOAD_SNAPSHOT, request.id(), false}, request.caller(), request.attempt(), call);
  if (operation != nullptr) enqueue(operation);
}

Result<wire::LoadSnapshotReply> Snapshotter::load(wire::LoadSnapshotRequest request, Deadline deadline) {
  request.set_id(random_id());
  const auto operation = operations_.begin({wire::LOAD_SNAPSHOT, request.id(), false}, request.SerializeAsString());
  enqueue(operation);
  ASSIGN_OR_RETURN(const std::string header, operations_.wait(operation, deadline));
  wire::LoadSnapshotReply reply;
  ARGOSY_CHECK(reply.ParseFromString(header), "an answer of this process");
  return reply;
}

// ---- For recovery.

Result<double> Snapshotter::between_changes(const std::function<Status(State&)>& work) {
  ASSIGN_OR_RETURN(const double pause, host_.between_changes(work));
  last_pause_ = pause;
  return pause;
}

// The log goes on in a new file from about this moment on, so that the old ones can go once the snapshot is safe.
Status Snapshotter::cut() {
  const Stopwatch since_begin;
  if (table::RecordLog* log = host_.log()) RETURN_IF_ERROR(log->rotate().status());
  Moment moment;
  RETURN_IF_ERROR(between_changes([&](State& state) { return take(state, moment); }).status());
  RETURN_IF_ERROR(write_moment(moment));
  last_duration_ = since_begin.seconds();
  return trim(options_.keep);
}

// REQUIRES: no change is under way, so that the log ends with what the state has.
Status Snapshotter::take(State& state, Moment& moment) {
  moment.changes = host_.changes();
  moment.news = host_.news();
  RETURN_IF_ERROR(host_.in_order([&](const State& now) ARGOSY_REQUIRES(now.mutex()) { moment.state = now.cut(); }));
  if (const table::RecordLog* log = host_.log()) moment.state.head.set_log_position(log->end());
  ASSIGN_OR_RETURN(TablesCut tables, TablesCut::begin(state.tables(), nullptr));
  moment.tables.emplace(std::move(tables));
  return {};
}

Status Snapshotter::write_moment(Moment& moment) {
  const uint64_t number = next_number_++;
  const fs::path folder = table::numbered_snapshot(root_, number);
  table::SnapshotInfo what = info();
  what.step = moment.state.head.batches();
  ASSIGN_OR_RETURN(auto writer, table::SnapshotWriter::open(folder, what));
  ASSIGN_OR_RETURN(const WrittenTables written, moment.tables->write(*writer, [](uint64_t) { return Status(); }));
  moment.tables.reset();
  ASSIGN_OR_RETURN(const std::string head, moment.state.write(options_.piece_bytes, [&](std::string_view piece) {
    return writer->add({table::SnapshotChunk::Kind::state, table::kStateName, 0, 1, piece});
  }));
  // It names a place in the log. A power cut must not leave a log that ends before it, under which nothing can be recovered.
  if (table::RecordLog* log = host_.log()) RETURN_IF_ERROR(log->sync());
  Status status = writer->commit(head);
  if (status.ok()) {
    if (options_.written) options_.written(part_of(folder));
    status = (ARGOSY_PLANTED("snapshot_not_checked") ? Status() : check_written(part_of(folder)))
                 .with_context("what was just written cannot be read back, and the snapshots before it stay");
  }
  if (!status.ok()) {
    std::error_code ignored;  // recovery passes over what is damaged
    fs::remove_all(part_of(folder), ignored);
    return status;
  }
  log_info("snapshot {}: {}, {}; pushes waited {:.3f} s", number, counted(written.rows, "row"), counted(written.bytes, "byte"),
           last_pause_.load());
  last_cut_ = Stopwatch();
  ++snapshots_;
  log_position_ = moment.state.head.log_position();
  changes_at_snapshot_ = moment.changes;
  news_at_snapshot_ = moment.news;
  since_snapshot_.restart();
  return {};
}

// Every byte, as recovery would.
Status Snapshotter::check_written(const fs::path& part) const {
  ASSIGN_OR_RETURN(const auto manifest, table::open_server_folder(part));
  StateImageReader state;
  const auto look = [&](const table::SnapshotChunk& chunk) {
    return chunk.kind == table::SnapshotChunk::Kind::state ? state.add(chunk.bytes) : Status();
  };
  for (const table::SnapshotPart& file : manifest.parts) RETURN_IF_ERROR(table::read_part_file(part, file, look));
  ASSIGN_OR_RETURN(const std::string head, table::read_state(part, manifest));
  return std::move(state).finish(head).status().with_context("{}", part.string());
}

Status Snapshotter::trim(uint32_t keep) {
  RETURN_IF_ERROR(table::keep_newest_snapshots(root_, keep, me()));
  table::RecordLog* log = host_.log();
  if (log == nullptr) return {};
  ASSIGN_OR_RETURN(const auto numbers, table::list_snapshots(root_));
  for (const uint64_t number : numbers) {
    const auto snapshot = table::Snapshot::open(table::numbered_snapshot(root_, number), me());
    wire::StateImage head;
    if (!snapshot.ok() || !head.ParseFromString(snapshot->states().at(0))) continue;  // another server's, or unfinished
    return log->drop_before(head.log_position());
  }
  return {};
}

}  // namespace argosy::ps
