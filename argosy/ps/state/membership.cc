#include "argosy/ps/state/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "argosy/base/counted.h"
#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/base/text.h"

namespace argosy::ps {
namespace {

double seconds_since(SteadyClock::time_point moment) {
  return std::chrono::duration<double>(SteadyClock::now() - moment).count();
}

size_t at(int worker) { return static_cast<size_t>(worker); }

}  // namespace

std::string_view phase_name(Membership::Phase phase) {
  constexpr std::string_view names[] = {"not seen", "live", "lost", "done"};
  return names[static_cast<size_t>(phase)];
}

Membership::Membership(int workers) : members_(static_cast<size_t>(workers)) { touch_all(); }

Membership::Worker Membership::worker(int index) const {
  MutexLock lock(mutex_);
  return members_[at(index)].worker;
}

double Membership::silent_seconds(int index) const {
  MutexLock lock(mutex_);
  return seconds_since(members_[at(index)].heard);
}

double Membership::quiet_seconds() const {
  MutexLock lock(mutex_);
  double least = std::numeric_limits<double>::infinity();
  for (const Member& member : members_) least = std::min(least, seconds_since(member.heard));
  return least;
}

uint64_t Membership::hello(int worker, uint64_t process_id, const std::string& process) {
  MutexLock lock(mutex_);
  Member& member = members_[at(worker)];
  member.worker.phase = Phase::live;
  member.worker.process_id = process_id;
  member.worker.process = process;
  member.heard = SteadyClock::now();
  member.failed.clear();
  member.failed_at.reset();
  member.abandoned.reset();
  // What an earlier process has sent stays counted: the window and the book are the worker's, not its process's.
  if (member.worker.incarnation > 0) member.book.restarted();
  return ++member.worker.incarnation;
}

void Membership::goodbye(int worker) {
  MutexLock lock(mutex_);
  members_[at(worker)].worker.phase = Phase::done;
}

void Membership::lose(int worker) {
  MutexLock lock(mutex_);
  members_[at(worker)].worker.phase = Phase::lost;
}

void Membership::leave(int worker, uint32_t round, const wire::PassLedger* ledger) {
  MutexLock lock(mutex_);
  Member& member = members_[at(worker)];
  // A worker that was started again says once more what it said before; its pass was closed then.
  if (round < member.worker.window.round()) return;
  if (ledger != nullptr) {
    const PassDifference difference = compare(member.worker.window, round, *ledger);
    const uint64_t expected = ledger->samples() - ledger->given_up_samples(), here = member.book.open_samples(round);
    member.book.left(round, *ledger, difference.missing, expected > here ? expected - here : 0);
  }
  member.worker.window.leave(round);
}

void Membership::add(int worker, std::span<const uint64_t> batches) {
  MutexLock lock(mutex_);
  members_[at(worker)].worker.window.add(batches);
}

void Membership::give_up(int worker, std::span<const uint64_t> batches, uint64_t samples, const FileLines& lines) {
  MutexLock lock(mutex_);
  Member& member = members_[at(worker)];
  // A server that never had them drops them too, and has nothing to take off its sums.
  const auto here = std::ranges::count_if(batches, [&](uint64_t batch) { return member.worker.window.contains(batch); });
  member.worker.window.remove(batches);
  member.worker.given_up.insert(batches.begin(), batches.end());
  member.book.dropped(static_cast<uint64_t>(here), samples, lines);
}

wire::WorkerLedger Membership::ledger(int worker) const {
  MutexLock lock(mutex_);
  const Member& member = members_[at(worker)];
  wire::WorkerLedger ledger = member.book.image();
  ledger.set_worker(static_cast<uint32_t>(worker));
  ledger.set_state(std::string(phase_name(member.worker.phase)));
  return ledger;
}

void Membership::restore_ledger(int worker, const wire::WorkerLedger& saved) {
  MutexLock lock(mutex_);
  members_[at(worker)].book.restore(saved);
}

std::optional<wire::PassRecord> Membership::finished(int worker, uint32_t round) const {
  MutexLock lock(mutex_);
  const wire::PassRecord* record = members_[at(worker)].book.find(round);
  return record == nullptr ? std::nullopt : std::optional(*record);
}

Status Membership::check_pass(int worker, uint32_t round, const wire::PassLedger& ledger, bool may_lose) const {
  MutexLock lock(mutex_);
  const Member& member = members_[at(worker)];
  // The sums below subtract one number of the ledger from another: what contradicts itself would wrap around.
  const auto strictly = std::ranges::adjacent_find(ledger.empty(), std::greater_equal<>()) == ledger.empty().end();
  if (!strictly || (!ledger.empty().empty() && ledger.empty().at(ledger.empty_size() - 1) >= ledger.batches()) ||
      ledger.given_up_samples() > ledger.samples() || ledger.lost_elsewhere_samples() > ledger.samples() ||
      ledger.lost_elsewhere_batches() > ledger.batches()) {
    return Status::invalid_argument("the ledger of pass {} of worker {} contradicts itself", round, worker);
  }
  const PassDifference difference = compare(member.worker.window, round, ledger);
  if (difference.unexpected > 0) {
    return Status::failed_precondition(
        "pass {} of worker {} has {} here that the worker did not read: {}. It now reads other data than before its "
        "restart, or in another order",
        round, worker, counted(difference.unexpected, "batch", "batches"),
        list_batches(difference.unexpected_batches, difference.unexpected));
  }
  // Batches that nobody read are wrong under any durability; missing ones only where the server promises to keep them.
  if (may_lose || ARGOSY_PLANTED("ledger_not_compared")) return {};
  if (difference.missing > 0) {
    return Status::data_loss("pass {} of worker {} has {}, of which {} are missing here: {}", round, worker,
                             counted(ledger.batches() - static_cast<uint32_t>(ledger.empty_size()), "batch", "batches"),
                             with_thousands(static_cast<int64_t>(difference.missing)),
                             list_batches(difference.missing_batches, difference.missing));
  }
  const uint64_t expected = ledger.samples() - ledger.given_up_samples(), here = member.book.open_samples(round);
  if (expected == here) return {};
  return Status::failed_precondition(
      "pass {} of worker {}: read for this server: {}; applied here, in the same batches: {}. The worker now "
      "reads other data than before its restart",
      round, worker, counted(expected, "sample"), here);
}

void Membership::restore(int worker, const Worker& saved) {
  MutexLock lock(mutex_);
  members_[at(worker)].worker = saved;
}

Status Membership::fence(uint64_t worker, uint64_t incarnation) const {
  const Worker& known = members_[worker].worker;
  // Of two processes of one worker the newer one counts: what the older one still sends would be trained twice.
  if (incarnation < known.incarnation && !ARGOSY_PLANTED("no_fence")) {
    return Status::aborted("fenced off: worker {} was started again, as {}; this is incarnation {}, the newest is {}", worker,
                           known.process, incarnation, known.incarnation);
  }
  if (incarnation > known.incarnation) {
    return Status::failed_precondition("incarnation {} of worker {} is not known here; the newest is {}", incarnation, worker,
                                       known.incarnation);
  }
  // The others have agreed on the sums without this worker; it comes back by a hello, and is told what it lacks.
  if (known.phase == Phase::lost) {
    return Status::aborted("worker {} was silent for too long and the job went on without it; start it again to join", worker);
  }
  return {};
}

Status Membership::check(uint64_t worker, uint64_t incarnation, bool* compared) {
  if (worker >= static_cast<uint64_t>(workers())) {
    return Status::invalid_argument("there is no worker {}; the job has {}", worker, workers());
  }
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(fence(worker, incarnation));
  members_[worker].heard = SteadyClock::now();
  if (compared != nullptr) *compared = members_[worker].compared == incarnation;
  return {};
}

void Membership::compared(int worker, uint64_t incarnation) {
  MutexLock lock(mutex_);
  members_[at(worker)].compared = incarnation;
}

uint64_t Membership::lacking(int worker, const Window& expected, bool& whole_rounds) const {
  MutexLock lock(mutex_);
  const Worker& known = members_[at(worker)].worker;
  whole_rounds = false;
  if (known.phase == Phase::lost) return 0;
  const uint64_t all = known.window.count_lacking(expected, whole_rounds);
  // What a loss has dropped everywhere is not missing here.
  const auto given_up = std::ranges::count_if(known.given_up, [&](uint64_t batch) {
    return round_of(batch) == expected.round() && expected.contains(batch) && !known.window.contains(batch);
  });
  return all - static_cast<uint64_t>(given_up);
}

Status Membership::check_fence(uint64_t worker, uint64_t incarnation) const {
  MutexLock lock(mutex_);
  return fence(worker, incarnation);
}

bool Membership::adopt(uint64_t worker, uint64_t incarnation) {
  if (worker >= static_cast<uint64_t>(workers())) return false;
  MutexLock lock(mutex_);
  Member& member = members_[worker];
  // Older processes stay fenced off.
  if (incarnation <= member.worker.incarnation) return false;
  member.worker.phase = Phase::live;
  member.worker.incarnation = incarnation;
  member.worker.process_id = 0;
  member.worker.process = "of before the restart";
  member.heard = SteadyClock::now();
  return true;
}

bool Membership::is_new(int worker, uint64_t process_id) const {
  MutexLock lock(mutex_);
  const Worker& known = members_[at(worker)].worker;
  return known.incarnation == 0 || known.process_id != process_id || known.phase != Phase::live;
}

Status Membership::check_round(int worker, std::span<const uint64_t> batches) const {
  MutexLock lock(mutex_);
  const uint32_t open = members_[at(worker)].worker.window.round();
  // A worker begins a pass when all servers have closed the one before: where it is open, the log has lost its end.
  if (batches.empty() || round_of(batches.front()) <= open) return {};
  return Status::failed_precondition(
      "worker {} is in pass {}, and pass {} was not finished here: this server was started again without the end of it. Its log "
      "was "
      "cut short, as by a power cut (durability=wal_sync keeps what is acknowledged), or its directory was changed. Start the "
      "worker "
      "again: it trains what is missing",
      worker, round_of(batches.front()), open);
}

Result<Membership::Admission> Membership::begin_push(int worker, uint64_t incarnation, std::span<const uint64_t> batches) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(fence(at(worker), incarnation));
  Member& member = members_[at(worker)];
  const Window& window = member.worker.window;
  // A batch is in the window once its record is in the log. Until then a repetition is neither new nor a duplicate.
  if (std::ranges::any_of(batches, [&](uint64_t batch) { return member.under_way.contains(batch); })) {
    return Status::unavailable("a push of worker {} with the same batches is under way; try again", worker);
  }
  switch (window.match(batches)) {
    case Window::Match::all:
      if (ARGOSY_PLANTED("duplicate_as_new")) break;
      return Admission::duplicate;
    case Window::Match::some: {
      const auto here = std::ranges::find_if(batches, [&](uint64_t batch) { return window.contains(batch); });
      const auto not_here = std::ranges::find_if(batches, [&](uint64_t batch) { return !window.contains(batch); });
      return Status::internal(
          "a push of worker {} has batch {} of round {}, which is here, and batch {} of round {}, which is not", worker,
          index_of(*here), round_of(*here), index_of(*not_here), round_of(*not_here));
    }
    case Window::Match::none: break;
  }
  member.under_way.insert(batches.begin(), batches.end());
  return Admission::go;
}

void Membership::end_push(int worker, std::span<const uint64_t> batches, bool applied, uint64_t samples, const FileLines& lines) {
  MutexLock lock(mutex_);
  Member& member = members_[at(worker)];
  for (const uint64_t batch : batches) member.under_way.erase(batch);
  if (!applied || batches.empty()) return;
  member.worker.window.add(batches);
  member.book.applied(round_of(batches.front()), batches.size(), samples, lines);
  // A batch that was given up and came after all counts once: it leaves the sums of what is lost.
  uint64_t again = 0;
  for (const uint64_t batch : batches) again += member.worker.given_up.erase(batch);
  if (again > 0) member.book.sent_again(again, samples);
}

bool Membership::is_quiet(int worker) const {
  MutexLock lock(mutex_);
  return members_[at(worker)].under_way.empty();
}

bool Membership::is_awaited(int worker) const {
  MutexLock lock(mutex_);
  const Phase phase = members_[at(worker)].worker.phase;
  return phase == Phase::not_seen || phase == Phase::live;
}

bool Membership::is_lost(int worker) const {
  MutexLock lock(mutex_);
  return members_[at(worker)].worker.phase == Phase::lost;
}

bool Membership::all_done() const {
  MutexLock lock(mutex_);
  const auto count = [this](Phase phase) ARGOSY_REQUIRES(mutex_) {
    return std::ranges::count(members_, phase, [](const Member& m) { return m.worker.phase; });
  };
  // A job whose workers are all lost is not done: one that is started again goes on with it.
  return count(Phase::done) > 0 && count(Phase::done) + count(Phase::lost) == std::ssize(members_);
}

void Membership::touch_all() {
  MutexLock lock(mutex_);
  for (Member& member : members_) member.heard = SteadyClock::now();
}

void Membership::fail(int worker, const std::string& why, double silent_seconds) {
  MutexLock lock(mutex_);
  Member& member = members_[at(worker)];
  member.failed = member.abandoned ? fmt::format("{}, and {}", member.failed, why) : why;
  member.failed_at = SteadyClock::now();
  // A heartbeat of the process may still be under way, on a connection of its own.
  member.heard =
      SteadyClock::now() - std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(silent_seconds));
  member.abandoned = member.heard;
}

void Membership::abandon(int worker, const std::string& why, double silent_seconds) {
  MutexLock lock(mutex_);
  Member& member = members_[at(worker)];
  member.failed = why;
  member.abandoned =
      SteadyClock::now() - std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(silent_seconds));
}

bool Membership::all_failed(double seconds) const {
  MutexLock lock(mutex_);
  bool some = false;
  for (const Member& member : members_) {
    const Phase phase = member.worker.phase;
    if (phase == Phase::done) continue;
    if (phase == Phase::not_seen) return false;
    // Who said that it failed is believed from that moment. Silence alone is believed after twice the time: a network that is
    // down for a while looks the same from here.
    const double silent = seconds_since(member.failed_at.value_or(member.heard));
    if (silent <= seconds) return false;
    some |= phase == Phase::lost || member.failed_at.has_value() || silent > 2 * seconds;
  }
  return some;
}

std::vector<int> Membership::silent(double seconds) const {
  MutexLock lock(mutex_);
  std::vector<int> workers;
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    const auto since = member.abandoned.value_or(member.heard);
    if (member.worker.phase == Phase::live && seconds_since(since) > seconds) workers.push_back(static_cast<int>(i));
  }
  return workers;
}

std::string Membership::describe(int worker) const {
  MutexLock lock(mutex_);
  const Member& member = members_[at(worker)];
  if (member.worker.phase == Phase::not_seen) return fmt::format("worker {}, which never came", worker);
  if (!member.failed.empty()) return fmt::format("worker {} ({}), which {}", worker, member.worker.process, member.failed);
  return fmt::format("worker {} ({}), silent for {:.1f} s", worker, member.worker.process, seconds_since(member.heard));
}

}  // namespace argosy::ps
