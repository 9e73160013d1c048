#include "argosy/launch/supervisor.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

#include "argosy/base/log.h"

namespace argosy::launch {
namespace {

std::atomic<int> stop_signal{0}, stop_signals{0};  // the last one, and how many there were
constexpr auto kWatchEvery = std::chrono::milliseconds(10);

}  // namespace

void Supervisor::stop_from_signal(int number) {
  stop_signal = number;
  ++stop_signals;
}

Supervisor::Supervisor(Job job, SupervisorOptions options) : options_(std::move(options)) {
  const bool only_servers = job.workers.empty();
  for (ProcessSpec& spec : job.servers)
    members_.push_back({.spec = std::move(spec), .awaited = job.has_other_workers || only_servers});
  for (ProcessSpec& spec : job.workers) members_.push_back({.spec = std::move(spec), .awaited = true});
  for (const Member& member : members_) {
    if (member.spec.name == options_.follow) follower_.emplace(member.spec.log);
  }
}

Status Supervisor::start(Member& member) {
  member.process.reset();  // what is left of the one before must not hold its port
  ASSIGN_OR_RETURN(Process process, Process::start(member.spec));
  member.process = std::make_unique<Process>(std::move(process));
  return {};
}

Status Supervisor::start_all() {
  for (Member& member : members_) {
    RETURN_IF_ERROR(begin_log(member.spec.log));
    RETURN_IF_ERROR(start(member));
  }
  log_info("{} processes started; their logs are {} … {}", members_.size(), members_.front().spec.log, members_.back().spec.log);
  return {};
}

int Supervisor::run() {
  int result = 1;
  if (const Status status = start_all(); status.ok()) {
    result = watch();
  } else {
    log_error("{}", status.message());
  }
  stop_all();
  if (follower_) follower_->show();
  return result;
}

bool Supervisor::all_done() const {
  return std::all_of(members_.begin(), members_.end(), [](const Member& member) { return !member.awaited || member.done; });
}

int Supervisor::watch() {
  while (!all_done()) {
    if (const int number = stop_signal; number != 0) {
      log_warning("stopped by signal {}", number);
      return 128 + number;
    }
    for (Member& member : members_) {
      if (member.done) continue;
      const auto exit = member.process->poll();
      if (!exit) continue;
      if (const auto result = ended(member, *exit)) return *result;
    }
    if (follower_) follower_->show();
    std::this_thread::sleep_for(kWatchEvery);
  }
  log_info("the job has ended well");
  return 0;
}

std::optional<int> Supervisor::ended(Member& member, const Exit& exit) {
  if (exit.ok()) {
    member.done = true;
    return std::nullopt;
  }
  if (member.restarts < options_.max_restarts) {
    ++member.restarts;
    log_warning("{}: {}; starting it again ({} of {}), its log goes on in {}", member.spec.name, exit.to_string(),
                member.restarts, options_.max_restarts, member.spec.log);
    const Status status = start(member);
    if (status.ok()) return std::nullopt;
    log_error("{}", status.message());
  }
  report(member, exit);
  return exit.code;
}

void Supervisor::report(const Member& member, const Exit& exit) const {
  std::fprintf(stderr, "---- %s: %s; the end of %s:\n%s----\n", member.spec.name.c_str(), exit.to_string().c_str(),
               member.spec.log.c_str(), tail(member.spec.log, options_.tail_lines).c_str());
  log_error("{}: {}; stopping the job", member.spec.name, exit.to_string());
}

bool Supervisor::all_stopped() {
  return std::all_of(members_.begin(), members_.end(),
                     [](Member& member) { return member.process == nullptr || member.process->poll().has_value(); });
}

void Supervisor::stop_all() {
  const int signals = stop_signals;
  for (Member& member : members_) {
    if (member.process != nullptr && !member.process->poll()) member.process->signal(SIGTERM);
  }
  const Deadline deadline = Deadline::after_seconds(options_.grace_seconds);
  while (!all_stopped() && !deadline.passed() && stop_signals == signals) std::this_thread::sleep_for(kWatchEvery);
  for (Member& member : members_) {
    if (member.process != nullptr && !member.process->poll())
      log_warning("{}: does not end by SIGTERM; killing it", member.spec.name);
    member.process.reset();
  }
}

}  // namespace argosy::launch
