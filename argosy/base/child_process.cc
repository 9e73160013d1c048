#include "argosy/base/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "argosy/base/check.h"
#include "argosy/base/kill_session.h"
#include "argosy/base/log.h"
#include "argosy/base/poll.h"
#include "argosy/base/text.h"

extern char** environ;

namespace argosy {
namespace {

constexpr double kKillSeconds = 10;

// What the child needs between vfork and exec, where it must not allocate.
struct Plan {
  char* const* command;
  char* const* environment;
  int input, output, errors;  // above 2; -1: as it is
  int inherited;
  ChildOptions::Group group;
  int death_signal;
  pid_t parent;
};

// Into the strings, which must outlive it.
std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& text : strings) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// Handlers are the parent's code, which must not run in the child; and a parent's ignoring (Python ignores SIGPIPE, nohup SIGHUP)
// is not meant for the programs that it starts.
void set_default_signals() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action{};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    const bool reset = number == SIGINT || number == SIGTERM || number == SIGPIPE || number == SIGHUP;
    if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && !reset)) continue;
    action.sa_handler = SIG_DFL;
    action.sa_flags = 0;
    ::sigaction(number, &action, nullptr);
  }
}

// In the child. Only calls that are safe although the parent has threads and its memory is shared. Returns where it fails, with
// errno.
void become(const Plan& plan) {
  set_default_signals();
  if (plan.group == ChildOptions::Group::session ? ::setsid() < 0 : ::setpgid(0, 0) != 0) return;
  if (plan.death_signal != 0) {
    if (::prctl(PR_SET_PDEATHSIG, plan.death_signal) != 0) return;
    if (::getppid() != plan.parent) ::_exit(1);  // it has ended before it was asked for
  }
  if (::dup2(plan.input, STDIN_FILENO) < 0) return;
  if (plan.output >= 0 && ::dup2(plan.output, STDOUT_FILENO) < 0) return;
  if (plan.errors >= 0 && ::dup2(plan.errors, STDERR_FILENO) < 0) return;
  if (plan.inherited >= 0 && ::fcntl(plan.inherited, F_SETFD, 0) != 0) return;
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvpe(plan.command[0], plan.command, plan.environment);
}

struct Forked {
  pid_t pid = -1;
  int error = 0;  // of vfork
};

// Signals wait meanwhile: a handler that ran in the child would change the parent's memory.
Forked fork_and_become(const Plan& plan, int report) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::vfork();
  if (pid == 0) {
    become(plan);
    const int code = errno;
    [[maybe_unused]] const ssize_t told = ::write(report, &code, sizeof code);
    ::_exit(127);
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {.pid = pid, .error = error};
}

// Why the child did not become its program; 0: it did. The child holds the other end of the pipe until then.
int failure_of(const Fd& reading) {
  int code = 0;
  ssize_t count = 0;
  do {
    count = ::read(reading.get(), &code, sizeof code);
  } while (count < 0 && errno == EINTR);
  return count == sizeof code ? code : 0;
}

// A copy that none of the child's three can be.
Fd above_stderr(int fd) { return Fd(fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)); }

Fd open_nothing() {
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return above_stderr(nothing.get());
}

Status cannot_start(const ChildOptions& options, int error) {
  return Status::unavailable("cannot start '{}': {}", join(options.command, " "), std::strerror(error));
}

// What the child inherits, and the pipe on which it says why it did not become its program.
struct Descriptors {
  Fd input, output, errors, reading, report;
};

Result<Descriptors> open_descriptors(const ChildOptions& options) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return cannot_start(options, errno);
  const Fd writing(ends[1]);
  Descriptors made{.input = options.input >= 0 ? above_stderr(options.input) : open_nothing(),
                   .output = above_stderr(options.output),
                   .errors = above_stderr(options.errors),
                   .reading = Fd(ends[0]),
                   .report = above_stderr(writing.get())};
  const bool all = made.input.open() && made.report.open() && made.output.open() == (options.output >= 0) &&
                   made.errors.open() == (options.errors >= 0);
  if (!all) return cannot_start(options, errno);
  return made;
}

}  // namespace

std::string ExitStatus::to_string() const {
  if (signal != 0) return fmt::format("killed by signal {} ({})", signal, strsignal(signal));
  return fmt::format("exit status {}", code);
}

Result<ChildProcess> ChildProcess::start(const ChildOptions& options) {
  ARGOSY_CHECK(!options.command.empty(), "a command");
  const std::vector<char*> command = pointers(options.command);
  const std::vector<char*> environment = options.environment ? pointers(*options.environment) : std::vector<char*>();
  ASSIGN_OR_RETURN(Descriptors descriptors, open_descriptors(options));
  const Plan plan{.command = command.data(),
                  .environment = options.environment ? environment.data() : environ,
                  .input = descriptors.input.get(),
                  .output = descriptors.output.get(),
                  .errors = descriptors.errors.get(),
                  .inherited = options.inherited,
                  .group = options.group,
                  .death_signal = options.death_signal,
                  .parent = ::getpid()};
  const Forked forked = fork_and_become(plan, descriptors.report.get());
  if (forked.pid < 0) return cannot_start(options, forked.error);
  descriptors.report.close();
  int failure = failure_of(descriptors.reading);
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, forked.pid, 0)));
  if (!pidfd.open() && failure == 0) failure = errno;
  if (failure == 0) return ChildProcess(forked.pid, std::move(pidfd), options.group);
  ::kill(forked.pid, SIGKILL);
  ::waitpid(forked.pid, nullptr, 0);
  return cannot_start(options, failure);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)), group_(other.group_), exit_(other.exit_) {}

bool ChildProcess::kill(Deadline deadline) {
  signal(SIGKILL);
  const bool all = group_ != ChildOptions::Group::session || kill_session(pid_, deadline);
  return wait(deadline).has_value() && all;
}

// The child is reaped last: as long as it is a zombie, no other process can be given its number as process, group or session.
ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  if (!kill(Deadline::after_seconds(kKillSeconds)))
    log_warning("process {} or one that it started did not end {} s after it was killed; it is left behind", pid_, kKillSeconds);
  if (poll()) ::waitpid(pid_, nullptr, 0);
}

std::optional<ExitStatus> ChildProcess::poll() {
  if (exit_) return exit_;
  siginfo_t info{};
  int failed = 0;
  do {
    failed = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  } while (failed != 0 && errno == EINTR);
  if (failed != 0 || info.si_pid != pid_) return std::nullopt;
  const bool exited = info.si_code == CLD_EXITED;
  exit_ = ExitStatus{.code = exited ? info.si_status : 128 + info.si_status, .signal = exited ? 0 : info.si_status};
  return exit_;
}

std::optional<ExitStatus> ChildProcess::wait(Deadline deadline) {
  while (!poll() && !deadline.passed()) wait_readable(pidfd(), deadline);
  return poll();
}

void ChildProcess::leave() {
  ARGOSY_CHECK(poll().has_value(), "a child that has ended");
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

void ChildProcess::signal(int number) { ::kill(-pid_, number); }

}  // namespace argosy
