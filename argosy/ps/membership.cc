#include "argosy/ps/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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
  std::lock_guard lock(mutex_);
  return members_[at(index)].worker;
}

double Membership::silent_seconds(int index) const {
  std::lock_guard lock(mutex_);
  return seconds_since(members_[at(index)].heard);
}

double Membership::quiet_seconds() const {
  std::lock_guard lock(mutex_);
  double least = std::numeric_limits<double>::infinity();
  for (const Member& member : members_) least = std::min(least, seconds_since(member.heard));
  return least;
}

uint64_t Membership::hello(int worker, uint64_t process_id, const std::string& process) {
  std::lock_guard lock(mutex_);
  Member& member = members_[at(worker)];
  member.worker.phase = Phase::live;
  member.worker.process_id = process_id;
  member.worker.process = process;
  member.heard = SteadyClock::now();
  member.failed.clear();
  return ++member.worker.incarnation;
}

void Membership::goodbye(int worker) {
  std::lock_guard lock(mutex_);
  members_[at(worker)].worker.phase = Phase::done;
}

void Membership::lose(int worker) {
  std::lock_guard lock(mutex_);
  members_[at(worker)].worker.phase = Phase::lost;
}

void Membership::leave(int worker, uint32_t round) {
  std::lock_guard lock(mutex_);
  members_[at(worker)].worker.window.leave(round);
}

void Membership::add(int worker, std::span<const uint64_t> batches) {
  std::lock_guard lock(mutex_);
  members_[at(worker)].worker.window.add(batches);
}

void Membership::give_up(int worker, std::span<const uint64_t> batches) {
  std::lock_guard lock(mutex_);
  Worker& known = members_[at(worker)].worker;
  known.window.remove(batches);
  known.given_up.insert(batches.begin(), batches.end());
}

void Membership::restore(int worker, const Worker& saved) {
  std::lock_guard lock(mutex_);
  members_[at(worker)].worker = saved;
}

Status Membership::fence(uint64_t worker, uint64_t incarnation) const {
  const Worker& known = members_[worker].worker;
  if (incarnation < known.incarnation) {
    return Status::aborted("fenced off: worker {} was started again, as {}; this is incarnation {}, the newest is {}", worker,
                           known.process, incarnation, known.incarnation);
  }
  if (incarnation > known.incarnation) {
    return Status::failed_precondition("incarnation {} of worker {} is not known here; the newest is {}", incarnation, worker,
                                       known.incarnation);
  }
  if (known.phase == Phase::lost) {
    return Status::aborted("worker {} was silent for too long and the job went on without it; start it again to join", worker);
  }
  return {};
}

Status Membership::check(uint64_t worker, uint64_t incarnation) {
  if (worker >= members_.size()) {
    return Status::invalid_argument("there is no worker {}; the job has {}", worker, members_.size());
  }
  std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(fence(worker, incarnation));
  members_[worker].heard = SteadyClock::now();
  return {};
}

Status Membership::check_fence(uint64_t worker, uint64_t incarnation) const {
  std::lock_guard lock(mutex_);
  return fence(worker, incarnation);
}

bool Membership::adopt(uint64_t worker, uint64_t incarnation) {
  if (worker >= members_.size()) return false;
  std::lock_guard lock(mutex_);
  Member& member = members_[worker];
  if (incarnation <= member.worker.incarnation) return false;
  member.worker.phase = Phase::live;
  member.worker.incarnation = incarnation;
  member.worker.process_id = 0;
  member.worker.process = "of before the restart";
  member.heard = SteadyClock::now();
  return true;
}

bool Membership::is_new(int worker, uint64_t process_id) const {
  std::lock_guard lock(mutex_);
  const Worker& known = members_[at(worker)].worker;
  return known.incarnation == 0 || known.process_id != process_id || known.phase != Phase::live;
}

Result<Membership::Admission> Membership::begin_push(int worker, uint64_t incarnation, std::span<const uint64_t> batches) {
  std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(fence(at(worker), incarnation));
  Member& member = members_[at(worker)];
  const Window& window = member.worker.window;
  if (std::ranges::any_of(batches, [&](uint64_t batch) { return member.under_way.contains(batch); })) {
    return Status::unavailable("a push of worker {} with the same batches is under way; try again", worker);
  }
  switch (window.match(batches)) {
    case Window::Match::all: return Admission::duplicate;
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

void Membership::end_push(int worker, std::span<const uint64_t> batches, bool applied) {
  std::lock_guard lock(mutex_);
  Member& member = members_[at(worker)];
  for (const uint64_t batch : batches) member.under_way.erase(batch);
  if (!applied) return;
  member.worker.window.add(batches);
  for (const uint64_t batch : batches) member.worker.given_up.erase(batch);
}

bool Membership::is_quiet(int worker) const {
  std::lock_guard lock(mutex_);
  return members_[at(worker)].under_way.empty();
}

bool Membership::is_awaited(int worker) const {
  std::lock_guard lock(mutex_);
  const Phase phase = members_[at(worker)].worker.phase;
  return phase == Phase::not_seen || phase == Phase::live;
}

bool Membership::is_lost(int worker) const {
  std::lock_guard lock(mutex_);
  return members_[at(worker)].worker.phase == Phase::lost;
}

bool Membership::all_done() const {
  std::lock_guard lock(mutex_);
  const auto count = [this](Phase phase) {
    return std::ranges::count(members_, phase, [](const Member& m) { return m.worker.phase; });
  };
  return count(Phase::done) > 0 && count(Phase::done) + count(Phase::lost) == std::ssize(members_);
}

void Membership::touch_all() {
  std::lock_guard lock(mutex_);
  for (Member& member : members_) member.heard = SteadyClock::now();
}

void Membership::fail(int worker, const std::string& why, double silent_seconds) {
  std::lock_guard lock(mutex_);
  Member& member = members_[at(worker)];
  member.failed = why;
  member.heard =
      SteadyClock::now() - std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(silent_seconds));
}

std::vector<int> Membership::silent(double seconds) const {
  std::lock_guard lock(mutex_);
  std::vector<int> workers;
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (member.worker.phase == Phase::live && seconds_since(member.heard) > seconds) workers.push_back(static_cast<int>(i));
  }
  return workers;
}

std::string Membership::describe(int worker) const {
  std::lock_guard lock(mutex_);
  const Member& member = members_[at(worker)];
  if (member.worker.phase == Phase::not_seen) return fmt::format("worker {}, which never came", worker);
  if (!member.failed.empty()) return fmt::format("worker {} ({}), which {}", worker, member.worker.process, member.failed);
  return fmt::format("worker {} ({}), silent for {:.1f} s", worker, member.worker.process, seconds_since(member.heard));
}

}  // namespace argosy::ps
