#include "argosy/launch/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "argosy/base/fd.h"
#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"

extern char** environ;

namespace argosy::launch {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(5);
constexpr double kKillSeconds = 10;

std::vector<std::string> environment_of(const ProcessSpec& spec, const NoticeReceiver& notices) {
  std::vector<std::string> entries = {fmt::format("{}={}", NoticeReceiver::kVariable, notices.variable_value())};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    const bool own = name == NoticeReceiver::kVariable;  // a launcher may itself be a process of a job
    if (!own && !spec.environment.contains(name) && !spec.without.contains(name)) entries.emplace_back(text);
  }
  for (const auto& [name, value] : spec.environment) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// What the child does between fork and exec; only calls that are safe there although the launcher has threads. Returns where it
// fails, with errno.
void become(const char* log, char* const* command, char* const* environment, pid_t launcher, int notices) {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // A launcher that is killed with 9 cannot stop what it started.
  if (::setsid() < 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (::getppid() != launcher) ::_exit(1);
  const int in = ::open("/dev/null", O_RDONLY), out = ::open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (in < 0 || out < 0 || ::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 || ::dup2(out, STDERR_FILENO) < 0)
    return;
  for (int one : {in, out}) {
    if (one > STDERR_FILENO) ::close(one);
  }
  if (::fcntl(notices, F_SETFD, 0) != 0) return;
  ::execvpe(command[0], command, environment);
}

// Waits for the child to become its program; returns why it did not, or 0. The child holds the other end of the pipe until then.
int failure_of(const Fd& reading) {
  int code = 0;
  ssize_t count = 0;
  do {
    count = ::read(reading.get(), &code, sizeof code);
  } while (count < 0 && errno == EINTR);
  return count == sizeof code ? code : 0;
}

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
  ASSIGN_OR_RETURN(NoticeReceiver notices, NoticeReceiver::open());
  std::vector<std::string> command = spec.command, environment = environment_of(spec, notices);
  const std::vector<char*> argv = pointers(command), envp = pointers(environment);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return Status::unavailable("{}: no pipe: {}", spec.name, std::strerror(errno));
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t launcher = ::getpid(), pid = ::fork();
  if (pid == 0) {
    become(spec.log.c_str(), argv.data(), envp.data(), launcher, notices.process_end());
    const int code = errno;
    [[maybe_unused]] const ssize_t told = ::write(writing.get(), &code, sizeof code);
    ::_exit(127);
  }
  if (pid < 0) return Status::resource_exhausted("{}: cannot start a process: {}", spec.name, std::strerror(errno));
  notices.close_process_end();
  Process process(pid, std::move(notices));
  writing.close();
  if (const int code = failure_of(reading); code != 0)
    return Status::unavailable("{}: cannot start '{}': {}", spec.name, join(spec.command, " "), std::strerror(code));
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), notices_(std::move(other.notices_)), exit_(other.exit_) {}

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
