#include "argosy/launch/process/local_processes.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "argosy/base/log.h"
#include "argosy/base/temporary.h"
#include "argosy/base/terminal_line.h"
#include "argosy/launch/process/log_file.h"
#include "argosy/launch/process/stacks.h"
#include "argosy/launch/process/stop_signal.h"

namespace argosy::launch {
namespace {

constexpr double kLookSeconds = 0.05;
constexpr int kTailLines = 20;
constexpr int kMostLooks = 100;  // at the notices of a process that has ended
constexpr double kLogCheckSeconds = 5;
constexpr int64_t kMostLogBytes = int64_t{1} << 30;  // of one process; as much again is kept
constexpr size_t kMostWords = 4096;  // of all processes, that nobody has taken
constexpr size_t kMostFolders = 64;  // of one process that are looked into when it has ended

}  // namespace

LocalProcesses::LocalProcesses(std::vector<ProcessSpec> specs, observe::JobBoard* board) : board_(board) {
  for (ProcessSpec& spec : specs) members_.push_back({.number = members_.size(), .spec = std::move(spec)});
}

Status LocalProcesses::start(size_t i) {
  end(members_[i]);  // what is left of the one before must not hold its port
  ASSIGN_OR_RETURN(JobProcess process, JobProcess::start(members_[i].spec));
  replace(i, std::move(process));
  return {};
}

void LocalProcesses::replace(size_t i, JobProcess process) {
  end(members_[i]);
  members_[i].consequence_of.clear();
  members_[i].jobs = 0;
  members_[i].left = false;
  members_[i].process = std::make_unique<JobProcess>(std::move(process));
  if (board_ != nullptr) board_->started(i, members_[i].process->pid());
}

Status LocalProcesses::start_all() {
  for (size_t i = 0; i < size(); ++i) RETURN_IF_ERROR(start(i));
  return {};
}

void LocalProcesses::set_variable(size_t i, const std::string& name, const std::string& value) {
  members_[i].spec.environment[name] = value;
}

std::vector<std::pair<size_t, std::string>> LocalProcesses::take_words() { return std::exchange(words_, {}); }

bool LocalProcesses::tell(size_t i, const std::string& word) {
  return members_[i].process != nullptr && members_[i].process->tell(word);
}

void LocalProcesses::kill(size_t i) {
  if (members_[i].process != nullptr) members_[i].process->signal(SIGKILL);
}

std::optional<ExitStatus> LocalProcesses::poll(size_t i) { return poll(members_[i], board_); }

std::optional<ExitStatus> LocalProcesses::poll(Member& member, observe::JobBoard* board) {
  const auto exit = member.process ? member.process->poll() : std::nullopt;
  if (exit && board != nullptr)
    board->ended(member.number, exit->ok(), exit->to_string(), exit->ok() ? "" : tail(member.spec.log, kTailLines));
  return exit;
}

bool LocalProcesses::show_notices(Member& member) {
  if (member.process == nullptr) return false;
  const std::vector<Notice> notices = member.process->notices();
  for (const Notice& notice : notices) {
    switch (notice.kind) {
      case Notice::Kind::line:
        log_line(notice.level, fmt::format("{}: {}", member.spec.name, notice.text));
        if (board_ != nullptr) board_->event(notice.level, member.spec.name, notice.text);
        break;
      case Notice::Kind::report:
        if (board_ != nullptr) board_->report(member.number, notice.text);
        break;
      case Notice::Kind::consequence:
        if (member.consequence_of.empty()) member.consequence_of = notice.text;
        break;
      case Notice::Kind::rank:
        if (words_.size() < kMostWords) words_.emplace_back(member.number, notice.text);
        break;
      case Notice::Kind::joined: ++member.jobs; break;
      case Notice::Kind::left:
        --member.jobs;
        member.left = true;
        break;
      case Notice::Kind::writing:
        if (member.folders.size() < kMostFolders) member.folders.insert(notice.text);
        break;
    }
  }
  return !notices.empty();
}

void LocalProcesses::show_last_notices(Member& member) {
  for (int looks = 0; looks < kMostLooks && show_notices(member); ++looks) {
  }
}

void LocalProcesses::end(Member& member) {
  show_last_notices(member);
  poll(member, board_);
  member.process.reset();
  for (const std::string& folder : std::exchange(member.folders, {})) remove_abandoned_temporaries(folder);
}

void LocalProcesses::show_notices() {
  for (Member& member : members_) show_notices(member);
}

LocalProcesses::Ending LocalProcesses::ending(size_t i, const ExitStatus& exit) {
  show_last_notices(members_[i]);
  if (!exit.ok()) return {.in_order = false, .code = exit.code, .text = exit.to_string()};
  if (members_[i].jobs <= 0) return {.text = exit.to_string()};
  return {.in_order = false,
          .code = 1,
          .text =
              "exit status 0 in the middle of its job, which it has not left (stop_worker() or the end of the script does; "
              "os._exit() does not)"};
}

// What has ended is not waited for again.
void LocalProcesses::wait(Deadline deadline, std::span<const int> others) {
  std::vector<int> waited(others.begin(), others.end());
  for (Member& member : members_) {
    if (member.process == nullptr || member.process->poll()) continue;
    waited.push_back(member.process->end_fd());
    waited.push_back(member.process->notice_fd());
  }
  wait_for_event(waited, deadline);
}

void LocalProcesses::report(size_t i, const std::string& how) {
  const ProcessSpec& spec = members_[i].spec;
  show_last_notices(members_[i]);
  if (const Status status = check_log(spec.log); !status.ok()) log_error("{}: {}", spec.name, status.message());
  clear_terminal_line();
  std::fprintf(stderr, "---- %s: %s; the end of %s:\n%s----\n", spec.name.c_str(), how.c_str(), spec.log.c_str(),
               tail(spec.log, kTailLines).c_str());
}

// The logs of a job are in one folder.
void LocalProcesses::watch_logs() {
  if (members_.empty() || since_log_check_.seconds() < kLogCheckSeconds) return;
  since_log_check_.restart();
  for (const Member& member : members_) {
    if (rotate_log(member.spec.log, kMostLogBytes))
      log_info("{}: its log had {} bytes; they are in {}.1 now", member.spec.name, kMostLogBytes, member.spec.log);
  }
  const Status status = check_log(members_.front().spec.log);
  if (!status.ok() && !logs_fail_) log_error("{}", status.message());
  if (status.ok() && logs_fail_) log_info("the logs can be written again");
  logs_fail_ = !status.ok();
}

void LocalProcesses::save_stacks(const std::string& why, double gdb_seconds) {
  std::vector<StackTarget> targets;
  for (Member& member : members_) {
    if (member.process != nullptr && !poll(member, board_))
      targets.push_back({.name = member.spec.name, .log = member.spec.log, .pid = member.process->pid()});
  }
  if (targets.empty()) return;
  const auto file = launch::save_stacks(targets, std::filesystem::path(targets.front().log).parent_path().string(), gdb_seconds);
  const std::string text = fmt::format("{}; {}", why, file.ok() ? "what its threads do is in " + *file : file.status().message());
  log_warning("{}", text);
  if (board_ != nullptr) board_->event(LogLevel::warning, "launcher", text);
}

bool LocalProcesses::all_stopped() {
  return std::all_of(members_.begin(), members_.end(),
                     [this](Member& member) { return member.process == nullptr || poll(member, board_).has_value(); });
}

void LocalProcesses::stop(double grace_seconds, int signals_heeded, const std::function<void()>& meanwhile) {
  for (Member& member : members_) {
    if (member.process != nullptr && !member.process->poll()) member.process->signal(SIGTERM);
  }
  const Deadline deadline = Deadline::after_seconds(grace_seconds);
  while (!all_stopped() && !deadline.passed() && stop_signals() <= signals_heeded) {
    meanwhile();
    show_notices();
    wait(Deadline::after_seconds(std::min(deadline.seconds_left(), kLookSeconds)));
  }
  if (!all_stopped() && stop_signals() <= signals_heeded)
    save_stacks(fmt::format("not everything has ended {} s after SIGTERM", grace_seconds));
  for (Member& member : members_) {
    if (member.process != nullptr && !member.process->poll())
      log_warning("{}: does not end by SIGTERM; killing it", member.spec.name);
    end(member);
  }
}

}  // namespace argosy::launch
