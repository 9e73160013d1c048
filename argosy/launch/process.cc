#include "argosy/launch/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"

extern char** environ;

namespace argosy::launch {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(5);
constexpr double kKillSeconds = 10;

std::vector<std::string> environment_of(const ProcessSpec& spec) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    if (!spec.environment.contains(name) && !spec.without.contains(name)) entries.emplace_back(text);
  }
  for (const auto& [name, value] : spec.environment) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// The attributes and file actions of one posix_spawn; freed at the end of the scope.
class SpawnSettings {
 public:
  explicit SpawnSettings(const std::string& log) {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) sigaddset(&defaults, number);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
};

// The session of a process and whether it still runs, from /proc/<pid>/stat: "pid (name) state ppid pgrp session …".
struct SessionState {
  int64_t session = -1;
  bool runs = false;
};

SessionState session_of(const std::filesystem::path& folder) {
  const auto stat = read_file(folder / "stat");
  if (!stat.ok()) return {};
  const size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 2 > stat->size()) return {};
  const auto fields = split(std::string_view(*stat).substr(name_end + 2), ' ');
  if (fields.size() < 4) return {};
  return {.session = parse_integer(fields[3]).value_or(-1), .runs = fields[0] != "Z" && fields[0] != "X"};
}

// Sends SIGKILL to what runs of the session; returns how many there were.
int kill_session(pid_t session) {
  int killed = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const auto pid = parse_integer(entry.path().filename().string());
    if (!pid) continue;
    const SessionState state = session_of(entry.path());
    if (state.session != session || !state.runs) continue;
    ::kill(static_cast<pid_t>(*pid), SIGKILL);
    ++killed;
  }
  return killed;
}

}  // namespace

std::string Exit::to_string() const {
  if (signal != 0) return fmt::format("killed by signal {} ({})", signal, strsignal(signal));
  return fmt::format("exit status {}", code);
}

Result<Process> Process::start(const ProcessSpec& spec) {
  ARGOSY_CHECK(!spec.command.empty(), "a command");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(spec.log).parent_path(), error);
  if (error) return Status::unavailable("{}: cannot make the folder of its log '{}': {}", spec.name, spec.log, error.message());
  std::vector<std::string> command = spec.command, environment = environment_of(spec);
  const SpawnSettings settings(spec.log);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, command[0].c_str(), &settings.actions, &settings.attributes, pointers(command).data(),
                                    pointers(environment).data());
  if (failed != 0)
    return Status::unavailable("{}: cannot start '{}': {}", spec.name, join(spec.command, " "), std::strerror(failed));
  return Process(pid);
}

Process::Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)), exit_(other.exit_) {}

// The child is reaped last: as long as it is a zombie, no other process can be given its number as process, group or session.
Process::~Process() {
  if (pid_ <= 0) return;
  const Deadline deadline = Deadline::after_seconds(kKillSeconds);
  signal(SIGKILL);
  while ((kill_session(pid_) > 0 || !poll()) && !deadline.passed()) std::this_thread::sleep_for(kPollEvery);
  if (poll()) {
    ::waitpid(pid_, nullptr, 0);
  } else {
    log_warning("process {} did not end {} s after it was killed; it is left behind", pid_, kKillSeconds);
  }
}

std::optional<Exit> Process::poll() {
  if (exit_) return exit_;
  siginfo_t info{};
  int failed = 0;
  do {
    failed = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0 || info.si_pid != pid_) return std::nullopt;
  if (info.si_code == CLD_EXITED) {
    exit_ = Exit{.code = info.si_status};
  } else {
    exit_ = Exit{.code = 128 + info.si_status, .signal = info.si_status};
  }
  return exit_;
}

void Process::signal(int number) { ::kill(-pid_, number); }

}  // namespace argosy::launch
