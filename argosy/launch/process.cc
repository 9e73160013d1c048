#include "argosy/launch/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "argosy/base/file.h"
#include "argosy/base/text.h"

extern char** environ;

namespace argosy::launch {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(20);
constexpr double kKillSeconds = 10;

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!added.contains(std::string(text.substr(0, text.find('='))))) entries.emplace_back(text);
  }
  for (const auto& [name, value] : added) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

Exit exit_from(int status) {
  if (WIFSIGNALED(status)) return {.code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status)};
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
  std::vector<std::string> command = spec.command, environment = merged_environment(spec.environment);
  const SpawnSettings settings(spec.log);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, command[0].c_str(), &settings.actions, &settings.attributes, pointers(command).data(),
                                    pointers(environment).data());
  if (failed != 0)
    return Status::unavailable("{}: cannot start '{}': {}", spec.name, join(spec.command, " "), std::strerror(failed));
  return Process(pid);
}

Process::Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)), exit_(other.exit_) {}

Process::~Process() {
  if (pid_ <= 0) return;
  signal(SIGKILL);
  wait(Deadline::after_seconds(kKillSeconds));
}

std::optional<Exit> Process::poll() {
  if (exit_) return exit_;
  int status = 0;
  pid_t found = 0;
  do {
    found = ::waitpid(pid_, &status, WNOHANG);
  } while (found < 0 && errno == EINTR);
  if (found == pid_) exit_ = exit_from(status);
  return exit_;
}

// The session may hold grandchildren that outlive the child: they are signalled too, as long as the group exists.
void Process::signal(int number) {
  if (pid_ > 0) ::kill(-pid_, number);
}

std::optional<Exit> Process::wait(Deadline deadline) {
  while (!poll() && !deadline.passed()) std::this_thread::sleep_for(kPollEvery);
  return exit_;
}

std::string tail(const std::string& path, int lines) {
  const auto text = read_file(path);
  if (!text.ok()) return "";
  size_t begin = text->size();
  for (int seen = 0; begin > 0; --begin) {
    if ((*text)[begin - 1] == '\n' && begin != text->size() && ++seen == lines) break;
  }
  return text->substr(begin);
}

}  // namespace argosy::launch
