#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "argosy/base/file.h"
#include "argosy/base/random.h"
#include "argosy/ps/server/server_scratch.h"
#include "argosy/testing/started_program.h"

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
  // `program`: argosy-server.
  ServerProcess(std::string program, std::vector<std::string> arguments)
      : program_file_(std::move(program)), arguments_(std::move(arguments)), endpoint_(quiet_endpoint()) {}

  void start() {
    std::vector<std::string> words = {program_file_, "--address", endpoint_};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    const std::string errors = folder_.path() / "stderr";
    const Fd writing(::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    auto started = testing::StartedProgram::start({.command = words, .errors = writing.get()});
    ASSERT_TRUE(started.ok()) << started.status().message() << read_file(errors).value();
    ASSERT_EQ(started->line(), endpoint_) << read_file(errors).value();
    program_.emplace(std::move(*started));
  }
  void kill() { program_.reset(); }
  // SIGTERM; the exit status.
  int end() {
    const ExitStatus status = program_->end();
    program_.reset();
    return status.signal == 0 ? status.code : -1;
  }
  const std::string& endpoint() const { return endpoint_; }

 private:
  const Folder folder_;
  const std::string program_file_;
  const std::vector<std::string> arguments_;
  const std::string endpoint_;
  std::optional<testing::StartedProgram> program_;
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
