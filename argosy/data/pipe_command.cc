#include "argosy/data/pipe_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"

namespace argosy::data {
namespace {

constexpr size_t kTail = 4096;
constexpr int kPipeBytes = 1 << 20;
constexpr size_t kFeedBytes = 256 << 10;

// write() whose SIGPIPE reaches nobody: a command that stops reading is no reason to die. The signal is blocked for this
// thread, and taken back if this write made it pending.
ssize_t write_quietly(int fd, const char* bytes, size_t size) {
  sigset_t pipe_signal, before, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t written = ::write(fd, bytes, size);
  const int error = errno;
  if (written < 0 && error == EPIPE && !was_pending) {
    const timespec now{};
    while (sigtimedwait(&pipe_signal, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

struct PipeEnds {
  Fd read, write;
};

Result<PipeEnds> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Status::resource_exhausted("cannot make a pipe: {}", system_reason(errno));
  return PipeEnds{Fd(ends[0]), Fd(ends[1])};
}

void set_nonblocking(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

}  // namespace

void StderrTail::add(std::string_view text) {
  MutexLock lock(mutex_);
  tail_ += text;
  if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
}

std::string StderrTail::text() const {
  MutexLock lock(mutex_);
  return tail_;
}

Result<std::unique_ptr<PipeCommand>> PipeCommand::start(const std::vector<std::string>& argv, std::string title,
                                                        CommandInput input, std::shared_ptr<StderrTail> errors,
                                                        const StopSignal& stop) {
  std::unique_ptr<PipeCommand> process(new PipeCommand(std::move(title), std::move(input.stream), std::move(errors), stop));
  RETURN_IF_ERROR(process->spawn(argv, input.file));
  return process;
}

PipeCommand::PipeCommand(std::string title, std::unique_ptr<ByteStream> input, std::shared_ptr<StderrTail> errors,
                         const StopSignal& stop)
    : title_(std::move(title)), input_(std::move(input)), errors_(std::move(errors)), stop_(stop) {
  if (input_ != nullptr) pending_.resize(kFeedBytes);
}

Status PipeCommand::spawn(const std::vector<std::string>& argv, const Fd& input_file) {
  ASSIGN_OR_RETURN(PipeEnds out, make_pipe());
  ASSIGN_OR_RETURN(PipeEnds err, make_pipe());
  PipeEnds in;
  if (input_ != nullptr) {
    ASSIGN_OR_RETURN(in, make_pipe());
  }
  auto child = ChildProcess::start({.command = argv,
                                    .input = input_file.open() ? input_file.get() : in.read.get(),
                                    .output = out.write.get(),
                                    .errors = err.write.get()});
  if (!child.ok()) return child.status().with_context("the command '{}'; is it installed and in PATH?", title_);
  child_.emplace(std::move(*child));
  ::fcntl(out.read.get(), F_SETPIPE_SZ, kPipeBytes);  // fewer wake-ups; the default does where the system refuses
  stdin_ = std::move(in.write);
  stdout_ = std::move(out.read);
  stderr_ = std::move(err.read);
  if (stdin_.open()) set_nonblocking(stdin_);
  set_nonblocking(stderr_);
  return {};
}

Result<size_t> PipeCommand::read(std::span<char> room) {
  for (;;) {
    if (!child_) return size_t{0};
    // A negative descriptor is skipped by poll.
    pollfd waits[] = {{.fd = stop_.fd(), .events = POLLIN, .revents = 0},
                      {.fd = stdout_.get(), .events = POLLIN, .revents = 0},
                      {.fd = stderr_.get(), .events = POLLIN, .revents = 0},
                      {.fd = stdin_.get(), .events = POLLOUT, .revents = 0}};
    if (::poll(waits, 4, -1) < 0) {
      if (errno == EINTR) continue;
      return Status::internal("poll on '{}' failed: {}", title_, system_reason(errno));
    }
    if (waits[0].revents != 0) return Status::cancelled("reading from '{}' was stopped", title_);
    if (waits[2].revents != 0) drain_errors();
    if (waits[1].revents != 0) {
      const ssize_t got = ::read(stdout_.get(), room.data(), room.size());
      if (got > 0) return static_cast<size_t>(got);
      if (got == 0) {
        RETURN_IF_ERROR(await_exit());
      } else if (errno != EINTR) {
        return Status::unavailable("cannot read from '{}': {}", title_, system_reason(errno));
      }
    } else if (waits[3].revents != 0) {
      RETURN_IF_ERROR(feed());
    }
  }
}

Status PipeCommand::feed() {
  if (pending_begin_ == pending_end_) {
    pending_begin_ = 0;
    ASSIGN_OR_RETURN(pending_end_, input_->read(pending_));
    if (pending_end_ == 0) {
      stdin_.close();
      return {};
    }
  }
  const ssize_t written = write_quietly(stdin_.get(), pending_.data() + pending_begin_, pending_end_ - pending_begin_);
  if (written >= 0) {
    pending_begin_ += static_cast<size_t>(written);
  } else if (errno == EPIPE) {
    stdin_.close();  // the command has what it wants
  } else if (errno != EAGAIN && errno != EINTR) {
    return Status::unavailable("cannot write to '{}': {}", title_, system_reason(errno));
  }
  return {};
}

void PipeCommand::drain_errors() {
  char text[4096];
  for (;;) {
    const ssize_t got = ::read(stderr_.get(), text, sizeof(text));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) stderr_.close();
    if (got <= 0) return;
    errors_->add({text, static_cast<size_t>(got)});
    [[maybe_unused]] const ssize_t shown = write_quietly(STDERR_FILENO, text, static_cast<size_t>(got));
  }
}

Status PipeCommand::await_exit() {
  stdout_.close();
  stdin_.close();
  for (;;) {
    pollfd waits[] = {{.fd = stop_.fd(), .events = POLLIN, .revents = 0},
                      {.fd = child_->pidfd(), .events = POLLIN, .revents = 0},
                      {.fd = stderr_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(waits, 3, -1) < 0 && errno != EINTR)
      return Status::internal("poll on '{}' failed: {}", title_, system_reason(errno));
    if (waits[0].revents != 0) return Status::cancelled("waiting for '{}' was stopped", title_);
    if (waits[2].revents != 0) drain_errors();
    if (waits[1].revents != 0) break;
  }
  const ExitStatus exit = *child_->poll();
  child_->leave();  // what it has left behind in the background may go on
  child_.reset();
  if (stderr_.open()) drain_errors();
  return judge(exit);
}

Status PipeCommand::judge(const ExitStatus& exit) {
  if (exit.ok() || ARGOSY_PLANTED("pipe_status_ignored")) return {};
  const std::string how = exit.signal == 0 ? fmt::format("exited with status {}", exit.code) : "was " + exit.to_string();
  const std::string errors = errors_->text();
  return Status::aborted("the command '{}' {}; its stderr {}", title_, how,
                         errors.empty() ? "is empty" : "ends with:\n" + errors);
}

}  // namespace argosy::data
