#include "argosy/launch/supervisor.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

#include "argosy/base/log.h"

namespace argosy::launch {
namespace {

std::atomic<int> stop_signal{0};
constexpr auto kWatchEvery = std::chrono::milliseconds(50);

}  // namespace

void Supervisor::stop_from_signal(int number) { stop_signal = number; }

Supervisor::Supervisor(std::vector<ProcessSpec> servers, std::vector<ProcessSpec> workers, SupervisorOptions options)
    : options_(options) {
  for (ProcessSpec& spec : servers) members_.push_back({.spec = std::move(spec)});
  for (ProcessSpec& spec : workers) members_.push_back({.spec = std::move(spec), .is_worker = true});
}

Status Supervisor::start(Member& member) {
  auto process = Process::start(member.spec);
  if (!process.ok()) return process.status();
  member.process = std::make_unique<Process>(std::move(*process));
  return {};
}

int Supervisor::run() {
  for (Member& member : members_) {
    if (const Status status = start(member); !status.ok()) {
      log_error("{}", status.message());
      stop_all();
      return 1;
    }
  }
  const int result = watch();
  stop_all();
  return result;
}

bool Supervisor::workers_done() const {
  return std::all_of(members_.begin(), members_.end(), [](const Member& member) { return !member.is_worker || member.done; });
}

int Supervisor::watch() {
  while (!workers_done()) {
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
    std::this_thread::sleep_for(kWatchEvery);
  }
  log_info("all workers have ended; stopping the servers");
  return 0;
}

std::optional<int> Supervisor::ended(Member& member, const Exit& exit) {
  if (exit.ok()) {
    member.done = true;
    return std::nullopt;
  }
  if (member.restarts < options_.max_restarts) {
    ++member.restarts;
    log_warning("{}: {}; starting it again ({} of {})", member.spec.name, exit.to_string(), member.restarts,
                options_.max_restarts);
    if (const Status status = start(member); status.ok()) return std::nullopt;
  }
  std::fprintf(stderr, "---- %s: %s; the end of %s:\n%s----\n", member.spec.name.c_str(), exit.to_string().c_str(),
               member.spec.log.c_str(), tail(member.spec.log, options_.tail_lines).c_str());
  log_error("{}: {}; stopping the job", member.spec.name, exit.to_string());
  return exit.code;
}

void Supervisor::stop_all() {
  for (Member& member : members_) {
    if (member.process != nullptr) member.process->signal(SIGTERM);
  }
  const Deadline deadline = Deadline::after_seconds(options_.grace_seconds);
  for (Member& member : members_) {
    if (member.process != nullptr) member.process->wait(deadline);
  }
  for (Member& member : members_) member.process.reset();  // kills what is left
}

}  // namespace argosy::launch
