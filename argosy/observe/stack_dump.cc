#include "argosy/observe/stack_dump.h"

#include <execinfo.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace argosy::observe {
namespace {

namespace fs = std::filesystem;

constexpr int kMostFrames = 64;
constexpr int kMostTurns = 2000;  // of a millisecond, while another thread writes

std::atomic_flag writing = ATOMIC_FLAG_INIT;

void write_text(const char* text, size_t size) {
  if (::write(STDERR_FILENO, text, size) < 0) return;  // there is nobody to tell
}

// A handler: everything in it is safe in one. Stacks are written one after the other, unless a writer hangs.
void write_own_stack(int) {
  const int error = errno;
  const timespec turn{.tv_sec = 0, .tv_nsec = 1'000'000};
  bool mine = false;
  for (int i = 0; i < kMostTurns && !(mine = !writing.test_and_set()); ++i) ::nanosleep(&turn, nullptr);
  char head[64] = "---- thread ";
  char name[16] = {};
  ::prctl(PR_GET_NAME, name);
  char* end = std::to_chars(head + std::strlen(head), head + 40, ::syscall(SYS_gettid)).ptr;
  *end++ = ' ';
  std::memcpy(end, name, std::strlen(name));
  end += std::strlen(name);
  *end++ = '\n';
  write_text(head, static_cast<size_t>(end - head));
  void* frames[kMostFrames];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, kMostFrames), STDERR_FILENO);
  if (mine) writing.clear();
  errno = error;
}

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (fs::directory_iterator entry(fmt::format("/proc/{}/task", process), error), end; !error && entry != end;
       entry.increment(error))
    threads.push_back(static_cast<pid_t>(std::stol(entry->path().filename().string())));
  return threads;
}

std::string first_line(const std::string& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

// "S (sleeping)" of a thread.
std::string state_of(const std::string& folder) {
  std::ifstream in(folder + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("State:\t")) return line.substr(7);
  }
  return "gone";
}

}  // namespace

void answer_stack_requests() {
  void* warm[1];
  ::backtrace(warm, 1);  // loads what it needs, which a handler must not
  struct sigaction action = {};
  action.sa_handler = write_own_stack;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGURG, &action, nullptr);
}

void request_stacks(pid_t process) {
  ::kill(process, SIGWINCH);
  for (const pid_t thread : threads_of(process)) ::syscall(SYS_tgkill, process, thread, SIGURG);
}

std::string thread_states(pid_t process) {
  std::string text;
  for (const pid_t thread : threads_of(process)) {
    const std::string folder = fmt::format("/proc/{}/task/{}", process, thread);
    text += fmt::format("thread {} {}: {}, {}\n", thread, first_line(folder + "/comm"), state_of(folder),
                        first_line(folder + "/wchan"));
  }
  return text;
}

}  // namespace argosy::observe
