#include "argosy/launch/store_line.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "argosy/base/clock.h"
#include "argosy/base/text.h"

extern char** environ;

namespace argosy::launch {
namespace {

constexpr const char* kProgram = "argosy-store";
constexpr double kFarewellSeconds = 3;  // for it to post the last line
constexpr auto kPollEvery = std::chrono::milliseconds(5);
constexpr int kListener = 3;  // the file descriptor that the program is told to listen on

// posix_spawn's settings: a session of its own, so that Ctrl-C is for the launcher alone; nothing blocked or ignored.
class SpawnSettings {
 public:
  SpawnSettings(int socket, int listener) {
    ::posix_spawnattr_init(&attributes);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&defaults, number);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    if (listener >= 0) ::posix_spawn_file_actions_adddup2(&actions, listener, kListener);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t actions{};
};

// The program that stands beside this one.
Result<std::string> store_program() {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto program = own.parent_path() / kProgram;
  if (!error && ::access(program.c_str(), X_OK) == 0) return program.string();
  return Status::not_found("a job of several nodes needs the program {}, which is not at {}; install it beside this one",
                           kProgram, program.string());
}

Result<StoreLine> start(std::vector<std::string> arguments, const Fd& listener = Fd()) {
  ASSIGN_OR_RETURN(const std::string program, store_program());
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    return Status::unavailable("{}: no socket: {}", kProgram, std::strerror(errno));
  Fd own(ends[0]);
  const Fd its(ends[1]);
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const Fd above(listener.open() ? ::fcntl(listener.get(), F_DUPFD_CLOEXEC, kListener + 1) : -1);  // the targets are below it
  const SpawnSettings settings(its.get(), above.get());
  std::vector<char*> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.push_back(*entry);
  std::string quiet = "TORCH_CPP_LOG_LEVEL=FATAL";  // c10d's failures come back as "lost", and need no stack on the terminal
  if (::getenv("TORCH_CPP_LOG_LEVEL") == nullptr) variables.push_back(quiet.data());
  variables.push_back(nullptr);
  pid_t pid = 0;
  if (const int error =
          ::posix_spawn(&pid, program.c_str(), &settings.actions, &settings.attributes, argv.data(), variables.data());
      error != 0)
    return Status::unavailable("cannot start {}: {}", program, std::strerror(error));
  return StoreLine(std::move(own), pid);
}

}  // namespace

Result<StoreLine> StoreLine::host(const Address& address, Fd listener, const std::string& greeting) {
  return start({"--host", address.to_string(), "--listener", std::to_string(kListener), "--greeting", greeting}, listener);
}

Result<StoreLine> StoreLine::join(const Address& address, double seconds) {
  return start({"--join", address.to_string(), "--seconds", fmt::format("{}", seconds)});
}

StoreLine::StoreLine(StoreLine&& other) noexcept
    : socket_(std::move(other.socket_)), lost_(std::move(other.lost_)), pid_(std::exchange(other.pid_, 0)) {}

StoreLine::~StoreLine() {
  socket_.flush();
  socket_.close("is not needed any more");
  if (pid_ <= 0) return;
  const Deadline deadline = Deadline::after_seconds(kFarewellSeconds);
  while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (deadline.passed()) ::kill(pid_, SIGKILL);
    std::this_thread::sleep_for(kPollEvery);
  }
}

std::vector<PostLine> StoreLine::receive() {
  socket_.flush();
  std::vector<PostLine> lines;
  for (const std::string& text : socket_.receive()) {
    auto line = parse_post_line(text);
    if (!line.ok()) {
      socket_.close(line.status().message());
    } else if (line->kind == PostLine::Kind::lost) {
      lost_ = line->text;
    } else {
      lines.push_back(std::move(*line));
    }
  }
  return lines;
}

std::string StoreLine::broken() const {
  if (!lost_.empty()) return lost_;
  return socket_.open() ? "" : fmt::format("{} {}", kProgram, socket_.why_closed());
}

}  // namespace argosy::launch
