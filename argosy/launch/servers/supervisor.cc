#include "argosy/launch/servers/supervisor.h"

#include <algorithm>
#include <utility>

#include "argosy/base/counted.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/launch/process/stop_signal.h"

namespace argosy::launch {
namespace {

constexpr double kConcludeSeconds = 20;  // for a process to start
constexpr double kWatchSeconds = 0.5, kFollowSeconds = 0.05;  // between two looks where nothing happens
constexpr double kCauseSeconds = 5;  // for the process that failed first to end
constexpr double kLeftSeconds = 5;   // for workers to say that they have left the job, which servers hear first
constexpr double kEndSeconds = 5;    // for servers to end when all workers of this machine have left

// Of "follower 3": 3.
int number_of(const std::string& name) { return static_cast<int>(parse_integer(name.substr(name.find(' ') + 1)).value_or(-1)); }

std::vector<ProcessSpec> all_specs(const ServerJob& job) {
  std::vector<ProcessSpec> specs = job.servers;
  specs.insert(specs.end(), job.workers.begin(), job.workers.end());
  return specs;
}

}  // namespace

Supervisor::Supervisor(const ServerJob& job, SupervisorOptions options, JobWatch* watch)
    : watch_(watch), group_(all_specs(job), watch == nullptr ? nullptr : &watch->board()), options_(std::move(options)) {
  const bool await_servers = job.has_other_workers || job.workers.empty();
  for (size_t i = 0; i < group_.size(); ++i) {
    const bool worker = i >= job.servers.size();
    const std::string& name = group_.spec(i).name;
    members_.push_back({.worker = worker, .first = name == "worker 0", .awaited = await_servers || worker});
    if (!worker && !job.all_followers.empty()) members_.back().server = number_of(name);
    members_.back().follower = name.starts_with("follower");
    if (group_.spec(i).name == options_.follow) follower_.emplace(group_.spec(i).log);
  }
}

Status Supervisor::start_all() {
  for (size_t i = 0; i < group_.size(); ++i) {
    RETURN_IF_ERROR(begin_log(group_.spec(i).log));
    RETURN_IF_ERROR(group_.start(i));
  }
  log_info("{} started; logs: {} … {}", counted(group_.size(), "process", "processes"), group_.spec(0).log,
           group_.spec(group_.size() - 1).log);
  return {};
}

int Supervisor::run() {
  int result = 1;
  if (const Status status = start_all(); status.ok()) {
    result = watch();
  } else {
    log_error("{}", status.message());
  }
  for (const Member& member : members_) {  // they end one after the other, and nobody takes over from them
    if (options_.replicas != nullptr && member.server >= 0) options_.replicas->finished(member.server);
  }
  if (watch_ != nullptr) watch_->board().stopping(signals_heeded_ == 0 ? "" : fmt::format("stopped by signal {}", stop_signal()));
  group_.stop(options_.grace_seconds, signals_heeded_, [this] {
    if (watch_ != nullptr) watch_->tick(group_);
  });
  if (follower_) follower_->show();
  if (watch_ != nullptr) watch_->finish(result);
  return result;
}

bool Supervisor::all_done() const {
  return std::all_of(members_.begin(), members_.end(), [](const Member& member) { return !member.awaited || member.done; });
}

int Supervisor::watch() {
  while (!all_done()) {
    if (const int number = stop_signal(); number != 0) {
      log_warning("stopped by signal {}; once more to kill at once", number);
      signals_heeded_ = 1;
      return 128 + number;
    }
    for (size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].done) continue;
      const auto exit = group_.poll(i);
      if (!exit) continue;
      if (const auto result = ended(i, *exit)) return *result;
    }
    if (const std::string lost = options_.replicas == nullptr ? "" : options_.replicas->lost(); !lost.empty()) {
      log_error("{}; stopping the job", lost);
      return 1;
    }
    group_.show_notices();
    group_.watch_logs();
    if (follower_) follower_->show();
    if (watch_ != nullptr) watch_->tick(group_);
    group_.wait(Deadline::after_seconds(follower_ ? kFollowSeconds : kWatchSeconds));
  }
  if (const auto result = conclude()) return *result;
  log_info("the job has ended well{}{}", left_out_.empty() ? "" : ", without ", join(left_out_, ", "));
  return 0;
}

// Another machine's launcher waits for its processes; one of a server of two that is only now started again would wait for a
// role.
std::optional<int> Supervisor::conclude() {
  if (options_.replicas == nullptr) return std::nullopt;
  options_.replicas->conclude();
  std::string left = left_to_tell();
  if (left.empty()) return std::nullopt;
  log_info("telling {} that the job has ended, for at most {:.0f} s", left, kConcludeSeconds);
  const Deadline deadline = Deadline::after_seconds(kConcludeSeconds);
  for (; !left.empty() && !deadline.passed(); left = left_to_tell()) {
    if (const int number = stop_signal(); number != 0) {
      signals_heeded_ = 1;
      return 128 + number;
    }
    group_.wait(Deadline::after_seconds(kWatchSeconds));
  }
  if (!left.empty()) {
    log_warning(
        "{} could not be told that the job has ended: it ends by itself, after a minute without a question, with an error", left);
  }
  return std::nullopt;
}

std::string Supervisor::left_to_tell() {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (group_.poll(i)) tell_that_gone(members_[i]);
  }
  return options_.replicas->not_told();
}

std::optional<int> Supervisor::ended(size_t i, const ExitStatus& exit) {
  LocalProcesses::Ending end = group_.ending(i, exit);
  if (end.in_order && !members_[i].worker && !judge_server(i, end)) return std::nullopt;
  tell_of_end(i, end.in_order);
  if (end.in_order) {
    members_[i].done = true;
    return std::nullopt;
  }
  if (waits_for_servers(i)) return std::nullopt;
  if (came_too_late(i)) {
    end.text +=
        " after it had left its job, and all servers had ended: nothing that it trained is lost, and nobody is there for it to "
        "come back to";
    return give_up(i, end);
  }
  if (waits_for_cause(i) || restarts(i, end.text)) return std::nullopt;
  return give_up(i, end);
}

void Supervisor::tell_of_end(size_t i, bool in_order) {
  Member& member = members_[i];
  if (options_.replicas == nullptr || member.server < 0 || std::exchange(member.told, true)) return;
  in_order ? options_.replicas->finished(member.server) : options_.replicas->ended(member.server, member.follower);
}

void Supervisor::tell_that_gone(Member& member) {
  if (options_.replicas == nullptr || member.server < 0 || std::exchange(member.gone, true)) return;
  options_.replicas->gone(member.server, member.follower);
}

const Supervisor::Member* Supervisor::other_of(const Member& member) const {
  const auto found = std::ranges::find_if(members_, [&](const Member& other) {
    return member.server >= 0 && other.server == member.server && other.follower != member.follower;
  });
  return found == members_.end() ? nullptr : &*found;
}

// Where the other one is on another machine, that machine's launcher knows, and the workers find out.
bool Supervisor::has_another(const Member& failed) const {
  if (failed.server < 0) return false;
  if (options_.replicas != nullptr && !options_.replicas->has_led(failed.server)) return false;
  const Member* const other = other_of(failed);
  return other == nullptr || !other->done;
}

// Started again, it would wait for servers that have done all they had to.
bool Supervisor::came_too_late(size_t i) const {
  return members_[i].worker && group_.has_left(i) &&
         std::all_of(members_.begin(), members_.end(), [](const Member& member) { return member.worker || member.done; });
}

bool Supervisor::waits_for_servers(size_t i) {
  Member& member = members_[i];
  const bool over = member.worker && group_.has_left(i) && who_needs_servers() == nullptr;
  if (!over || came_too_late(i)) return false;
  if (!member.failed_late) member.failed_late.emplace();
  return member.failed_late->seconds() <= kEndSeconds;
}

// Servers end when all workers have said goodbye; under `shrink` when those have that are left.
const std::string* Supervisor::who_needs_servers() const {
  const std::string* in_job = nullptr;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].worker) continue;
    if (!members_[i].done && group_.in_job(i)) {
      in_job = &group_.spec(i).name;
    } else if (options_.shrink) {
      return nullptr;
    }
  }
  return in_job;
}

// One that was told to end by somebody else, with SIGTERM, has status 0 too.
bool Supervisor::judge_server(size_t i, LocalProcesses::Ending& end) {
  group_.show_notices();
  const std::string* const worker = who_needs_servers();
  if (worker == nullptr) return true;
  if (!members_[i].ended_early) members_[i].ended_early.emplace();
  if (members_[i].ended_early->seconds() <= kLeftSeconds) return false;
  end = {.in_order = false,
         .code = 1,
         .text = fmt::format("{} while {} is in its job: a signal from elsewhere, or a script that does not wait in run_server()",
                             end.text, *worker)};
  return true;
}

const Supervisor::Member* Supervisor::cause_of(size_t i) const {
  const std::string& cause = group_.consequence_of(i);
  for (size_t other = 0; other < members_.size(); ++other) {
    if (other != i && group_.spec(other).name == cause) return &members_[other];
  }
  return nullptr;
}

bool Supervisor::waits_for_cause(size_t i) {
  const Member* const cause = cause_of(i);
  if (cause == nullptr || cause->done || cause->last_failure > members_[i].failures_before) return false;
  if (!members_[i].waits_for_cause) members_[i].waits_for_cause.emplace();
  return members_[i].waits_for_cause->seconds() <= kCauseSeconds;
}

// A failure of the cause excuses each of the others once: one that names it again, without a new one, has failed by itself.
bool Supervisor::restarts(size_t i, const std::string& how) {
  Member& member = members_[i];
  const ProcessSpec& spec = group_.spec(i);
  const Member* const cause = cause_of(i);
  const bool own = cause == nullptr || cause->last_failure <= member.failures_before;
  if (own) member.last_failure = ++failures_;
  if (member.restarts + (own ? 1 : 0) > options_.max_restarts || options_.max_restarts == 0) return false;
  if (own) ++member.restarts;
  log_warning("{}: {}; starting it again ({}), its log goes on in {}", spec.name, how,
              own ? fmt::format("{} of {}", member.restarts, options_.max_restarts)
                  : fmt::format("{} had failed", group_.consequence_of(i)),
              spec.log);
  member.failures_before = failures_;
  member.waits_for_cause.reset();
  member.ended_early.reset();
  member.failed_late.reset();
  member.told = false;
  const Status status = group_.start(i);
  if (!status.ok()) log_error("{}", status.message());
  return status.ok();
}

std::optional<int> Supervisor::give_up(size_t i, const LocalProcesses::Ending& end) {
  Member& member = members_[i];
  const std::string& name = group_.spec(i).name;
  group_.report(i, end.text);
  tell_that_gone(member);
  const bool has_other = has_another(member);
  const bool goes_on = has_other || can_do_without(member);
  log_error("{}: {}; {}", name, end.text,
            has_other                         ? "going on with the other process of its server alone (replicas=1)"
            : goes_on                         ? "going on without it (on_worker_loss=shrink)"
            : options_.shrink && member.first ? "stopping the job, because worker 0 saves the model (on_worker_loss=shrink)"
                                              : "stopping the job");
  if (!goes_on) return end.code;
  member.done = true;
  left_out_.push_back(name);
  return std::nullopt;
}

bool Supervisor::can_do_without(const Member& failed) const {
  const auto workers = std::count_if(members_.begin(), members_.end(), [](const Member& member) { return member.worker; });
  const auto gone = std::ranges::count_if(left_out_, [](const std::string& name) { return name.starts_with("worker"); });
  return options_.shrink && failed.worker && !failed.first && gone + 1 < workers;
}

}  // namespace argosy::launch
