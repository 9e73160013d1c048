#include "argosy/launch/group.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <thread>

#include "argosy/base/log.h"
#include "argosy/launch/log_file.h"
#include "argosy/launch/stop_signal.h"

namespace argosy::launch {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(10);
constexpr int kTailLines = 20;

}  // namespace

Group::Group(std::vector<ProcessSpec> specs) {
  for (ProcessSpec& spec : specs) members_.push_back({.spec = std::move(spec)});
}

Status Group::start(size_t i) {
  members_[i].process.reset();  // what is left of the one before must not hold its port
  ASSIGN_OR_RETURN(Process process, Process::start(members_[i].spec));
  members_[i].process = std::make_unique<Process>(std::move(process));
  return {};
}

Status Group::start_all() {
  for (size_t i = 0; i < size(); ++i) RETURN_IF_ERROR(start(i));
  return {};
}

std::optional<Exit> Group::poll(size_t i) { return members_[i].process ? members_[i].process->poll() : std::nullopt; }

void Group::report(size_t i, const Exit& exit) const {
  const ProcessSpec& spec = members_[i].spec;
  std::fprintf(stderr, "---- %s: %s; the end of %s:\n%s----\n", spec.name.c_str(), exit.to_string().c_str(), spec.log.c_str(),
               tail(spec.log, kTailLines).c_str());
}

bool Group::all_stopped() {
  return std::all_of(members_.begin(), members_.end(),
                     [](Member& member) { return member.process == nullptr || member.process->poll().has_value(); });
}

void Group::stop(double grace_seconds, const std::function<void()>& meanwhile) {
  const int signals = stop_signals();
  for (Member& member : members_) {
    if (member.process != nullptr && !member.process->poll()) member.process->signal(SIGTERM);
  }
  const Deadline deadline = Deadline::after_seconds(grace_seconds);
  while (!all_stopped() && !deadline.passed() && stop_signals() == signals) {
    meanwhile();
    std::this_thread::sleep_for(kLookEvery);
  }
  for (Member& member : members_) {
    if (member.process != nullptr && !member.process->poll())
      log_warning("{}: does not end by SIGTERM; killing it", member.spec.name);
    member.process.reset();
  }
}

}  // namespace argosy::launch
