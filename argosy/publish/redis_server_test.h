#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "argosy/base/clock.h"
#include "argosy/base/error.h"
#include "argosy/publish/redis_connection.h"

namespace argosy::publish {

// A redis-server of the test's own, which keeps nothing when it is killed.
class RedisServer {
 public:
  RedisServer() : port_(free_port()) { start(); }
  ~RedisServer() { kill(); }
  RedisServer(const RedisServer&) = delete;

  std::string address() const { return fmt::format("127.0.0.1:{}", port_); }

  void start() {
    pid_ = ::fork();
    if (pid_ == 0) {
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, 1);
      const std::string port = std::to_string(port_);
      ::execlp("redis-server", "redis-server", "--port", port.c_str(), "--bind", "127.0.0.1", "--save", "", nullptr);
      ::_exit(127);
    }
    const Deadline deadline = Deadline::after_seconds(30);
    while (!RedisConnection(address(), 1).call({"PING"}).ok()) ARGOSY_CHECK(!deadline.passed(), "redis-server does not start");
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  static int free_port();

  const int port_;
  pid_t pid_ = 0;
};

inline int RedisServer::free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ARGOSY_CHECK(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0, "no free port");
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

}  // namespace argosy::publish
