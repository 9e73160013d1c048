#include "argosy/launch/process/stacks.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "argosy/base/child_process.h"
#include "argosy/base/file.h"
#include "argosy/launch/process/stop_signal.h"
#include "argosy/observe/stack_dump.h"

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;

constexpr double kAnswerSeconds = 3, kQuietSeconds = 0.3, kLookSeconds = 0.1;
constexpr double kGdbSeconds = 15;  // for each process
constexpr uintmax_t kMostBytes = 1 << 20;

uintmax_t size_of(const std::string& log) {
  std::error_code error;
  const uintmax_t size = fs::file_size(log, error);
  return error ? 0 : size;
}

std::string bytes_after(const std::string& log, uintmax_t begin) {
  std::ifstream in(log, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(begin));
  std::string text(std::min(kMostBytes, size_of(log) - std::min(begin, size_of(log))), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

// Until the logs have stopped growing.
void wait_for_answers(const std::vector<StackTarget>& targets) {
  const auto all = [&] {
    uintmax_t bytes = 0;
    for (const StackTarget& target : targets) bytes += size_of(target.log);
    return bytes;
  };
  const Deadline deadline = Deadline::after_seconds(kAnswerSeconds);
  uintmax_t seen = all();
  for (Stopwatch quiet; quiet.seconds() < kQuietSeconds && !deadline.passed();) {
    wait_for_event({}, Deadline::after_seconds(kLookSeconds));
    if (const uintmax_t now = all(); now != seen) {
      seen = now;
      quiet.restart();
    }
  }
}

std::string gdb_text(pid_t process, const fs::path& scratch) {
  const Fd out(::open(scratch.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  auto gdb =
      ChildProcess::start({.command = {"gdb", "-batch", "-nx", "-p", std::to_string(process), "-ex", "thread apply all bt 24"},
                           .output = out.get(),
                           .errors = out.get()});
  if (!gdb.ok()) return "";  // it is not installed
  const auto exit = gdb->wait(Deadline::after_seconds(kGdbSeconds));
  const auto text = read_file(scratch);
  return fmt::format("{}{}", text.ok() ? *text : "", exit ? "" : "(gdb took too long)\n");
}

std::string file_name() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[64];
  return {text, std::strftime(text, sizeof text, "stacks-%Y%m%d-%H%M%S.txt", &local)};
}

}  // namespace

Result<std::string> save_stacks(const std::vector<StackTarget>& targets, const std::string& folder, double gdb_seconds) {
  std::vector<uintmax_t> begins;
  for (const StackTarget& target : targets) begins.push_back(size_of(target.log));
  for (const StackTarget& target : targets) observe::request_stacks(target.pid);
  wait_for_answers(targets);
  const fs::path path = fs::path(folder) / file_name();
  const fs::path scratch = path.string() + ".gdb";
  const Deadline gdb_deadline = Deadline::after_seconds(gdb_seconds);
  std::string text;
  for (size_t i = 0; i < targets.size(); ++i) {
    text += fmt::format("==== {} (pid {})\n{}", targets[i].name, targets[i].pid, observe::thread_states(targets[i].pid));
    text += fmt::format("-- as it says itself, in {}:\n{}", targets[i].log, bytes_after(targets[i].log, begins[i]));
    if (!gdb_deadline.passed()) text += "-- as gdb says:\n" + gdb_text(targets[i].pid, scratch);
  }
  std::error_code ignored;
  fs::remove(scratch, ignored);
  RETURN_IF_ERROR(write_file_atomically(path, text));
  return path.string();
}

}  // namespace argosy::launch
