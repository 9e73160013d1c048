#include "argosy/launch/servers/supervisor.h"

#include <algorithm>

#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/launch/process/stop_signal.h"

namespace argosy::launch {
namespace {

constexpr double kWatchSeconds = 0.5, kFollowSeconds = 0.05;  // between two looks where nothing happens
constexpr double kCauseSeconds = 5;  // for the process that failed first to end

std::vector<ProcessSpec> all_specs(const ServerJob& job) {
  std::vector<ProcessSpec> specs = job.servers;
  specs.insert(specs.end(), job.workers.begin(), job.workers.end());
  return specs;
}

}  // namespace

Supervisor::Supervisor(const ServerJob& job, SupervisorOptions options) : group_(all_specs(job)), options_(std::move(options)) {
  const bool await_servers = job.has_other_workers || job.workers.empty();
  for (size_t i = 0; i < group_.size(); ++i) {
    const bool worker = i >= job.servers.size();
    members_.push_back({.worker = worker, .first = group_.spec(i).name == "worker 0", .awaited = await_servers || worker});
    if (group_.spec(i).name == options_.follow) follower_.emplace(group_.spec(i).log);
  }
}

Status Supervisor::start_all() {
  for (size_t i = 0; i < group_.size(); ++i) {
    RETURN_IF_ERROR(begin_log(group_.spec(i).log));
    RETURN_IF_ERROR(group_.start(i));
  }
  log_info("{} processes started; their logs are {} … {}", group_.size(), group_.spec(0).log, group_.spec(group_.size() - 1).log);
  return {};
}

int Supervisor::run() {
  int result = 1;
  if (const Status status = start_all(); status.ok()) {
    result = watch();
  } else {
    log_error("{}", status.message());
  }
  group_.stop(options_.grace_seconds, signals_heeded_);
  if (follower_) follower_->show();
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
    group_.show_notices();
    if (follower_) follower_->show();
    group_.wait(Deadline::after_seconds(follower_ ? kFollowSeconds : kWatchSeconds));
  }
  log_info("the job has ended well{}{}", left_out_.empty() ? "" : ", without ", join(left_out_, ", "));
  return 0;
}

std::optional<int> Supervisor::ended(size_t i, const ExitStatus& exit) {
  Member& member = members_[i];
  const ProcessSpec& spec = group_.spec(i);
  if (exit.ok()) {
    member.done = true;
    return std::nullopt;
  }
  if (member.restarts < options_.max_restarts) {
    ++member.restarts;
    log_warning("{}: {}; starting it again ({} of {}), its log goes on in {}", spec.name, exit.to_string(), member.restarts,
                options_.max_restarts, spec.log);
    const Status status = group_.start(i);
    if (status.ok()) return std::nullopt;
    log_error("{}", status.message());
  }
  if (waits_for_cause(i)) return std::nullopt;
  group_.report(i, exit);
  const bool goes_on = can_do_without(member);
  log_error("{}: {}; {}", spec.name, exit.to_string(),
            goes_on                           ? "going on without it (on_worker_loss=shrink)"
            : options_.shrink && member.first ? "stopping the job, because worker 0 saves the model (on_worker_loss=shrink)"
                                              : "stopping the job");
  if (!goes_on) return exit.code;
  member.done = true;
  left_out_.push_back(spec.name);
  return std::nullopt;
}

bool Supervisor::waits_for_cause(size_t i) {
  group_.show_notices();
  const std::string& cause = group_.consequence_of(i);
  if (cause.empty() || cause == group_.spec(i).name) return false;
  if (!members_[i].waits_for_cause) members_[i].waits_for_cause.emplace();
  if (members_[i].waits_for_cause->seconds() > kCauseSeconds) return false;
  for (size_t other = 0; other < members_.size(); ++other) {
    // One that was started again has been reported already.
    if (group_.spec(other).name == cause) return !members_[other].done && members_[other].restarts == 0;
  }
  return false;
}

bool Supervisor::can_do_without(const Member& failed) const {
  const auto workers = std::count_if(members_.begin(), members_.end(), [](const Member& member) { return member.worker; });
  return options_.shrink && failed.worker && !failed.first && left_out_.size() + 1 < static_cast<size_t>(workers);
}

}  // namespace argosy::launch
