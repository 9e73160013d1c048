#include "argosy/ps/server/follower.h"

#include "argosy/base/log.h"
#include "argosy/base/notice.h"
#include "argosy/ps/server/rounded_record.h"
#include "argosy/ps/server/server_journal.h"
#include "argosy/ps/server/snapshot_copy.h"
#include "argosy/ps/state/state_snapshot.h"

namespace argosy::ps {
namespace {

constexpr double kFollowSeconds = 10;   // a call that waits for a record; an idle server answers it a little earlier
constexpr double kAtOnceSeconds = 5;   // one that does not
constexpr double kFollowAgainSeconds = 0.2;  // between two tries
constexpr double kTellAgainSeconds = 5;      // between two lines of the log on what it waits for
constexpr double kFinishedSeconds = 2;  // where nothing is expected any more
constexpr uint64_t kFollowBytes = uint64_t{4} << 20;

// A server that is away, or busy: it will be back. Everything else is final.
bool may_pass(const Status& status) {
  switch (status.code()) {
    case Code::unavailable:
    case Code::deadline_exceeded:
    case Code::cancelled:  // by a server that stops
    case Code::resource_exhausted:
    case Code::unauthenticated: return true;
    default: return false;
  }
}

std::set<size_t> every_table_of(const Tables& tables) {
  std::set<size_t> all;
  for (size_t i = 0; i < tables.size(); ++i) all.insert(i);
  return all;
}

}  // namespace

Follower::Follower(const Uses& uses, std::unique_ptr<PrimaryLink> primary, std::filesystem::path directory)
    : adoption_(uses.adoption),
      slot_(uses.state),
      parking_(uses.parking),
      ending_(uses.ending),
      replica_log_(uses.replica_log),
      format_(uses.format),
      link_(std::move(primary)),
      primary_(link_->peer()),
      directory_(std::move(directory)),
      rounded_spec_(in_wire_format(link_->info().spec, format_)),
      stream_(primary_, format_ != WireFormat::float32) {}

void Follower::start() {
  set_waiting("its first records");
  metrics_ = observe::Registry::process().collect([this](observe::Readings& readings) { read_metrics(readings); });
  thread_ = Thread("ps-follow", [this] { run(); });
}

void Follower::stop() {
  metrics_.end();
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  link_->interrupt();
  thread_.join();
}

// ---- The thread.

void Follower::run() {
  for (;;) {
    const Status status = try_to_go_on();
    {
      const MutexLock lock(mutex_);
      if (stopping_) return;
    }
    if (status.ok()) continue;
    const auto seconds = report_trouble(status);
    if (!seconds) return;
    pause(*seconds);
  }
}

Status Follower::try_to_go_on() {
  try {
    return go_on();
  } catch (const std::exception& error) {
    return Status::internal("{}", error.what());
  }
}

// The server of a run that has finished ends: then what is here stays as it is, also where another run has the address next.
std::optional<double> Follower::report_trouble(const Status& status) {
  const bool finished = is_finished();
  if (finished && !told_end_ && replica_log_ == nullptr)
    notice("the run has finished, and its last version, {}, stays here", state_.load()->version());
  told_end_ = finished;
  if (finished && replica_log_ != nullptr) {  // nobody comes back to either of the two
    ending_.end();
    return std::nullopt;
  }
  if (may_pass(status)) {
    if (!finished) set_waiting(status.message());
    return finished ? kFinishedSeconds : kFollowAgainSeconds;
  }
  if (finished && status.code() == Code::failed_precondition) return std::nullopt;
  (void)ending_.fatal(status.with_context("this follower of {} cannot go on", primary_));
  return std::nullopt;
}

bool Follower::is_finished() const {
  const State* state = state_;
  if (state == nullptr || !slot_ || !state->members().all_done()) return false;
  if (replica_log_ != nullptr) return true;
  const MutexLock lock(mutex_);
  return equal_;
}

Status Follower::go_on() {
  const bool again = !greeted_;
  if (again) {
    RETURN_IF_ERROR(link_->hello(Deadline::after_seconds(kFollowSeconds)));
    greeted_ = true;
    verified_ = false;
  }
  Status status = snapshot_first_ ? begin_from_snapshot() : Status();
  if (status.ok()) status = read_more();
  if (again && status.ok()) log_info("{} is back; this follower goes on at position {}", primary_, stream_.next());
  // An answer that did not come, or a process that does not know this one: the next try begins with a hello.
  if (!status.ok()) greeted_ = asked_ = false;
  return status;
}

// A call waits for the next record only where this follower has all before it: so what it says of itself is never older than one
// such call.
void Follower::ask_for_more() {
  const State* state = state_;
  wire::FollowRequest request;
  request.set_from(stream_.next());
  request.set_max_bytes(kFollowBytes);
  request.set_loaded(state == nullptr ? 0 : state->last_loaded());
  request.set_at_once(!all_);
  if (!verified_) {
    request.set_last_position(stream_.last_position());
    request.set_last_checksum(stream_.last_checksum());
  }
  request.set_wire_format(static_cast<wire::TableSpec::WireFormat>(format_));
  if (replica_log_ == nullptr) request.set_log(log_);
  if (replica_log_ != nullptr) replica_log_->ask(request);
  link_->begin(wire::FOLLOW, request, Deadline::after_seconds(all_ && replica_log_ == nullptr ? kFollowSeconds : kAtOnceSeconds));
  asked_ = true;
  asked_to_wait_ = std::exchange(all_, false);
}

// One with a log of its own says what it keeps as soon as it does, by asking for the next, and applies it then.
Status Follower::read_more() {
  if (!asked_) ask_for_more();
  asked_ = false;
  rpc::PayloadBuffer payload;
  const auto reply = link_->take<wire::FollowReply>(&payload);
  if (asked_to_wait_ && reply.status().code() == Code::deadline_exceeded && replica_log_ == nullptr) return {};
  if (!reply.ok()) return reply.status();
  verified_ = true;
  log_ = reply->log();
  snapshot_first_ = reply->snapshot_first();
  if (replica_log_ != nullptr) RETURN_IF_ERROR(replica_log_->heard(*reply));
  if (!snapshot_first_) {
    ASSIGN_OR_RETURN(const auto records,
                     stream_.take(*reply, {reinterpret_cast<const std::byte*>(payload.data()), payload.size()}));
    if (replica_log_ != nullptr) {
      RETURN_IF_ERROR(replica_log_->keep(records));
      all_ = reply->all();
      ask_for_more();
    }
    const Status applied = apply_all(records);
    if (replica_log_ != nullptr) replica_log_->applied(records.size());
    RETURN_IF_ERROR(applied);
  }
  all_ = reply->all();
  note_progress(reply->version());
  return {};
}

Status Follower::apply_all(std::span<const LogStream::One> records) {
  {
    const MutexLock lock(applying_);
    for (const LogStream::One& one : records) RETURN_IF_ERROR(apply(one));
  }
  if (state_.load() != nullptr && state_.load()->is_sync()) parking_.wake(Topic::position);
  return {};
}

// What may become the server itself is its state from the beginning.
Status Follower::make_state() {
  ASSIGN_OR_RETURN(made_, adoption_.make_state(link_->info().spec, link_->info().job));
  state_ = made_.get();
  if (replica_log_ != nullptr) slot_.set(std::move(made_));
  return {};
}

// As recovery does with a log of its own.
Status Follower::apply(const LogStream::One& one) {
  const auto record = decode_record(one.bytes);
  if (!record.ok()) return record.status().with_context("the record at position {} of the log of {}", one.position, primary_);
  if (record->method == wire::SET_ASIDE) return {};
  if (!one.packed) return apply_record(one, *record);
  const auto plain = plain_record(rounded_spec_, *record);
  if (!plain.ok()) return plain.status().with_context("the record at position {} of the log of {}", one.position, primary_);
  return apply_record(one, {wire::PUSH, record->seconds, plain->header, plain->bytes(), plain->payload});
}

Status Follower::apply_record(const LogStream::One& one, const Record& record) {
  if (state_.load() == nullptr) RETURN_IF_ERROR(make_state());
  if (record.method == wire::IMPORT && state_.load()->importing()) {
    ASSIGN_OR_RETURN(const auto import, parse<wire::ImportRecord>(record));
    // The server was killed while it got its first values, and has begun again with empty tables.
    if (!import.finished()) {
      snapshot_first_ = true;
      return Status::unavailable("{} begins again with its first values", primary_);
    }
  }
  const Status applied = state_.load()->apply(record);
  if (applied.ok()) return {};
  return Status::internal("the record at position {} of the log of {} ({}) cannot be applied: {}", one.position, primary_,
                          describe(record),
                          applied.message());  // whatever the reason: what follows must not be applied without it
}

// ---- From a snapshot.

Status Follower::begin_from_snapshot() {
  Stopwatch watch;
  ASSIGN_OR_RETURN(const SnapshotCopy copy, SnapshotCopy::take(*link_, directory_));
  if (replica_log_ != nullptr) RETURN_IF_ERROR(replica_log_->begin_replacing());
  Status status = replace_state(copy.snapshot());
  if (replica_log_ != nullptr) status = replica_log_->replaced(std::move(status));
  RETURN_IF_ERROR(status);
  stream_.begin(copy.head().log_position());
  snapshot_first_ = false;
  {
    const MutexLock lock(mutex_);
    ++snapshots_;
  }
  log_info("has copied the snapshot of version {} from {} in {:.3f} s", state_.load()->version(), primary_, watch.seconds());
  return {};
}

// Calls that read see the old rows of a table or the new ones.
Status Follower::replace_state(const table::Snapshot& snapshot) {
  if (state_.load() == nullptr) RETURN_IF_ERROR(make_state());
  State& state = *state_.load();
  ASSIGN_OR_RETURN(const auto filled, state.tables().make_empty());
  StateImageReader pieces;
  const ReadOptions how{.only = {}, .state = [&](std::string_view piece) { return pieces.add(piece); }};
  RETURN_IF_ERROR(read_tables(snapshot, *filled, how).status());
  ASSIGN_OR_RETURN(const wire::StateImage image, std::move(pieces).finish(snapshot.states().at(0)));
  const MutexLock lock(applying_);
  RETURN_IF_ERROR(state.tables().adopt(*filled, every_table_of(state.tables())));
  return state.restore(image);
}

// ---- How it stands.

void Follower::note_progress(uint64_t primary_version) {
  State* const state = state_;
  {
    const MutexLock lock(mutex_);
    primary_version_ = primary_version;
    equal_ = all_;
    if (all_) since_equal_.restart();
    waits_for_.clear();
    if (state == nullptr) waits_for_ = fmt::format("the first record of {}", primary_);
    if (!all_ && made_ != nullptr) waits_for_ = fmt::format("the rest of what {} has", primary_);
    if (made_ != nullptr && state->importing()) waits_for_ = fmt::format("first values, which {} is being given", primary_);
  }
  if (!all_ || made_ == nullptr || state->importing()) return;
  slot_.set(std::move(made_));
  notice("has caught up with {} at version {}", primary_, state->version());
}

void Follower::set_waiting(const std::string& for_what) {
  bool news = false;
  {
    const MutexLock lock(mutex_);
    std::string now = fmt::format("{}: {}", primary_, for_what);
    news = waits_for_ != now && (waits_for_.empty() || !told_ || told_->seconds() > kTellAgainSeconds);
    if (news) told_.emplace();
    waits_for_ = std::move(now);
    equal_ = false;
  }
  if (news) log_warning("waits for {}: {}", primary_, for_what);
}

void Follower::pause(double seconds) {
  MutexLock lock(mutex_);
  changed_.wait_until(lock, Deadline::after_seconds(seconds).when(), [this]() ARGOSY_REQUIRES(mutex_) { return stopping_; });
}

wire::StatsReply::Following Follower::report() const {
  const State* const state = state_;
  wire::StatsReply::Following report;
  report.set_primary(primary_);
  const MutexLock lock(mutex_);
  const uint64_t version = state == nullptr ? 0 : state->version();
  report.set_lag_records(primary_version_ > version ? primary_version_ - version : 0);
  report.set_lag_seconds(equal_ ? 0 : since_equal_.seconds());
  report.set_waits_for(waits_for_);
  report.set_snapshots(snapshots_);
  if (format_ != WireFormat::float32) report.set_wire_format(std::string(wire_format_name(format_)));
  return report;
}

void Follower::read_metrics(observe::Readings& readings) const {
  const wire::StatsReply::Following now = report();
  const observe::Labels labels = {{"server", std::to_string(link_->info().server)}, {"primary", primary_}};
  const State* const state = state_;
  readings.gauge("argosy_follower_version", "Records that this follower has applied since the job began.",
                 state == nullptr ? 0 : static_cast<double>(state->version()), labels);
  readings.gauge("argosy_follower_lag_records", "Records that the server which is followed has and this one has not.",
                 static_cast<double>(now.lag_records()), labels);
  readings.gauge("argosy_follower_lag_seconds", "Since this follower had all that the server has; 0: it has.", now.lag_seconds(),
                 labels);
  readings.gauge("argosy_follower_waiting",
                 "1: the server which is followed is away, or something else keeps this one from going on.",
                 now.waits_for().empty() ? 0 : 1, labels);
  readings.counter("argosy_follower_snapshots_total", "Snapshots copied because the log alone did not say everything.",
                   static_cast<double>(now.snapshots()), labels);
}

}  // namespace argosy::ps
