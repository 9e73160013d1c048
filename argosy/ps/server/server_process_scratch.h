#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "argosy/base/file.h"
#include "argosy/base/random.h"
#include "argosy/ps/server/server_scratch.h"

extern char** environ;

// argosy-server as a process of a test, which is killed and started again, and workers that go on meanwhile.
namespace argosy::ps::scratch {

// An endpoint that nobody listens at. Its port is not among those that the system gives to outgoing connections: while the server
// is dead, one of them would take it.
inline std::string quiet_endpoint() {
  Random random(std::random_device{}());
  for (;;) {
    const auto port = static_cast<uint16_t>(10'000 + random.below(20'000));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool quiet = ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    ::close(probe);
    if (quiet) return "127.0.0.1:" + std::to_string(port);
  }
}

// A server process on a port of its own, which stays the same over its deaths.
class ServerProcess {
 public:
  explicit ServerProcess(std::vector<std::string> arguments) : arguments_(std::move(arguments)), endpoint_(quiet_endpoint()) {}
  ~ServerProcess() { kill(); }

  void start() {
    int pipe_ends[2];
    ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
    std::vector<std::string> words = {ARGOSY_SERVER_PROGRAM, "--address", endpoint_};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
    const std::string errors = folder_.path() / "stderr";
    posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ASSERT_EQ(::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0) << argv[0];
    posix_spawn_file_actions_destroy(&actions);
    ::close(pipe_ends[1]);
    std::string said;
    for (char c = 0; ::read(pipe_ends[0], &c, 1) == 1 && c != '\n';) said += c;
    ::close(pipe_ends[0]);
    ASSERT_EQ(said, endpoint_) << read_file(errors).value();
  }
  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  // SIGTERM; the exit status.
  int end() {
    ::kill(pid_, SIGTERM);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  const std::string& endpoint() const { return endpoint_; }

 private:
  const Folder folder_;
  const std::vector<std::string> arguments_;
  const std::string endpoint_;
  pid_t pid_ = 0;
};

inline Worker connect(const ServerProcess& process, const JobSpec& spec, int index, uint64_t process_id) {
  auto link = std::make_shared<Link>();
  link->channel = std::move(*rpc::connect_channel(process.endpoint(), {}));
  return Worker(link, spec, index, process_id);
}

inline std::atomic<int64_t> answered = 0;  // calls of all workers

// Repeats a call until the server, which may be dead just now, has answered it.
template <typename Call>
auto persist(const Call& call) {
  const Deadline deadline = Deadline::after_seconds(60);
  for (;;) {
    auto result = call();
    const Code code = result.status().code();
    answered += result.ok();
    if ((code != Code::unavailable && code != Code::deadline_exceeded) || deadline.passed()) return result;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace argosy::ps::scratch
