#include "argosy/ps/server/changes.h"

#include <chrono>

#include "argosy/base/mutex.h"
#include "argosy/base/notice.h"
#include "argosy/base/plant.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

constexpr double kCloseSeconds = 60;  // changes under way end in milliseconds, unless the disk hangs
constexpr double kStepRetrySeconds = 0.5;

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

Changes::Changes(std::string name, bool settles, StateHolder& state, Parking& parking, Ending& ending)
    : name_(std::move(name)), settles_(settles), state_(state), parking_(parking), ending_(ending) {}

Changes::Inside::Inside(Changes& changes, const CallPtr& call) : changes_(changes) {
  const uint64_t seen = changes.parking_.version(Topic::thaw);
  inside_ = changes.gate_.enter();
  if (!inside_) changes.parking_.park(Topic::thaw, seen, call);
}

uint32_t Changes::now_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

Status Changes::no_turn(const Call& call) const {
  return Status::unavailable("{}: the changes before this one were not done in {:.1f} s; its disk may hang. Try again", name_,
                             call.waited_seconds());
}

Status Changes::hangs() const {
  return Status::unavailable("{}: changes under way were not done in time; its disk may hang", name_);
}

Result<State::Verdict> Changes::commit(const Record& record) {
  State& state = *state_;
  const auto checked = state.check(record);
  if (!checked.ok()) {
    // A worker whose passes do not fit is refused with data_loss too: that ends the worker, not the server.
    const bool lost = makes_rows(record.method) && checked.status().code() == Code::data_loss;
    return lost && is_overflow_broken(state.tables()) ? ending_.fatal(checked.status()) : checked.status();
  }
  const Verdict verdict = *checked;
  if (verdict != Verdict::change) {
    ++counts_.duplicates;
    return verdict;
  }
  if (const Status logged = caught([&] { return keep_record(record); }); !logged.ok()) {
    if (record.method == wire::PUSH && !ARGOSY_PLANTED("under_way_forever")) state.abandon_push(record);
    report_log_error(logged);
    return logged.code() == Code::unavailable ? logged : ending_.fatal(logged);
  }
  const bool hurries = log_hurries_.load(std::memory_order_relaxed);
  if (hurries) wake_log();
  if (const Status applied = caught([&] { return state.apply(record); }); !applied.ok()) return ending_.fatal(applied);
  ++counts_.changes;
  if (!hurries) wake_log();
  return verdict;
}

void Changes::wake_log() {
  if (log_awaited_.load(std::memory_order_relaxed) && log_awaited_.exchange(false)) parking_.wake(Topic::log);
}

// Pushes that come at once may all find that nothing was trained: what they do then may be done twice.
Status Changes::keep_record(const Record& record) {
  if (record.method == wire::PUSH && !training_) {
    RETURN_IF_ERROR(before_training_());
    training_ = true;
  }
  if (journal_ == nullptr || ARGOSY_PLANTED_EVERY("ack_before_log", 5)) return {};
  Status kept = journal_->append(record);
  if (!kept.ok()) ++counts_.refused_by_log;
  return kept;
}

void Changes::change(const CallPtr& call, const Answer& answer) {
  const Inside inside(*this, call);
  if (!inside) return;
  const Record record = record_of(call, now_seconds());
  std::unique_lock mine = turn(call->request.deadline);
  if (!mine.owns_lock()) return call->fail(no_turn(*call));
  const auto verdict = commit(record);
  std::optional<Outgoing> outgoing;
  if (verdict.ok()) outgoing = answer(*verdict);
  mine.unlock();
  advance_if_due();
  if (!verdict.ok()) return call->fail(verdict.status());
  if (outgoing) call->send(std::move(*outgoing));
}

bool Changes::now_or_later(const std::function<void()>& work) {
  if (!gate_.enter()) return false;
  std::unique_lock mine(turn_, std::try_to_lock);
  const bool now = mine.owns_lock();
  if (now) work();
  if (now) mine.unlock();
  gate_.leave();
  return now;
}

Status Changes::commit_own(wire::Method method, const std::string& header, std::span<const std::byte> payload,
                           Deadline deadline) {
  RETURN_IF_ERROR(gate_.enter_before(deadline).with_context("{}", name_));
  Status status = hangs();
  if (const std::unique_lock mine = turn(deadline); mine.owns_lock())
    status = commit({.method = method, .seconds = now_seconds(), .header = header, .payload = payload}).status();
  gate_.leave();
  return status;
}

Result<double> Changes::between_changes(const std::function<Status(State&)>& work) {
  Stopwatch watch;
  RETURN_IF_ERROR(gate_.close(Deadline::after_seconds(kCloseSeconds)));
  const Status status = work(*state_);
  const double seconds = watch.seconds();
  gate_.open();
  parking_.wake(Topic::thaw);
  if (!status.ok()) return status;
  return seconds;
}

// Calls that change nothing that lasts still move things in the state, such as which messages have arrived.
Status Changes::in_order(const std::function<void(State&)>& work) {
  const std::unique_lock mine = turn(Deadline::after_seconds(kCloseSeconds));
  if (!mine.owns_lock()) return hangs();
  const MutexLock lock(state_->mutex());
  work(*state_);
  return {};
}

// One line in a few seconds: a full disk fails every push.
void Changes::report_log_error(const Status& status) {
  const int64_t now = std::chrono::duration_cast<std::chrono::seconds>(SteadyClock::now().time_since_epoch()).count();
  if (int64_t last = last_log_error_; now >= last + 5 && last_log_error_.compare_exchange_strong(last, now)) {
    notice(LogLevel::error, "{}", status.message());
  }
}

void Changes::advance() {
  State& state = *state_;
  if (!state.is_sync()) return;
  const auto due = [&] {
    MutexLock lock(state.mutex());
    return state.sync().may_commit();
  };
  {
    MutexLock lock(state.mutex());
    if (lossy_ && state.sync().skip_lost_steps()) {
      state.publish_position();
      log_warning("steps were lost with the last process; the job goes on at step {} of round {}", state.position().step,
                  state.position().round);
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
  if (settles_) {
    MutexLock lock(state.mutex());
    unsettled_ = !state.sync().unsettled().empty();
  }
  parking_.wake(Topic::position);
}

// Who sets the flag and finds the turn taken may go: the one that has it looks at the flag after it has given it back.
void Changes::advance_if_due() {
  while (advance_due_) {
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) return;
    if (advance_due_.exchange(false)) advance();
  }
}

// A step whose record the log did not take, and one whose record the process before did not write: all pushes are here, and
// nobody sends anything more for it.
void Changes::retry_steps() {
  if (steps_due_ && retry_steps_at_ <= SteadyClock::now()) {
    retry_steps_at_ = Deadline::after_seconds(kStepRetrySeconds).when();
    now_or_later([this] {
      steps_due_ = false;
      advance();
    });
  }
  if (advance_due_ && gate_.enter()) {  // who had the turn when it was asked for may not have looked
    advance_if_due();
    gate_.leave();
  }
}

}  // namespace argosy::ps
