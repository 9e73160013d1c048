#include "argosy/base/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>

#include "argosy/base/file.h"
#include "argosy/base/random.h"
#include "argosy/base/text.h"

namespace argosy {
namespace {

struct FreeInfo {
  void operator()(addrinfo* info) const { ::freeaddrinfo(info); }
};
using Resolved = std::unique_ptr<addrinfo, FreeInfo>;

Result<Resolved> resolve(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int failed = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found); failed != 0)
    return Status::not_found("cannot look up the host of {}: {}", address.to_string(), ::gai_strerror(failed));
  return Resolved(found);
}

Status failure(const char* what, const Address& address, int code) {
  const std::string text = fmt::format("cannot {} {}: {}", what, address.to_string(), std::strerror(code));
  return Status(code == EADDRINUSE ? Code::already_exists : Code::unavailable, text);
}

Fd new_socket(const addrinfo& where) { return Fd(::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

bool bind_to_host(const Fd& socket, const std::string& host) {
  if (host.empty()) return true;
  const auto found = resolve({.host = host});
  return found.ok() && ::bind(socket.get(), (*found)->ai_addr, (*found)->ai_addrlen) == 0;
}

// Waits for a connection that has begun; returns the system's reason, or 0.
int finish_connect(const Fd& socket, Deadline deadline) {
  pollfd waited{.fd = socket.get(), .events = POLLOUT};
  const int wait = std::max(0, static_cast<int>(deadline.seconds_left() * 1000));
  if (::poll(&waited, 1, wait) == 0) return ETIMEDOUT;
  int code = 0;
  socklen_t size = sizeof code;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &code, &size) != 0) return errno;
  return code;
}

constexpr int kFirstFreePort = 10000, kTries = 100;

// Outgoing connections have this port and those after it.
int first_outgoing_port() {
  const auto range = read_file("/proc/sys/net/ipv4/ip_local_port_range");  // "32768  60999"
  if (!range.ok()) return 0;
  return static_cast<int>(parse_integer(range->substr(0, range->find_first_not_of("0123456789"))).value_or(0));
}

}  // namespace

Result<Fd> listen_at(const Address& address) {
  ASSIGN_OR_RETURN(const Resolved found, resolve(address));
  Fd socket = new_socket(*found);
  if (!socket.open()) return failure("make a socket for", address, errno);
  const int on = 1;  // a port whose last user has just left is free
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(socket.get(), SOMAXCONN) != 0)
    return failure("listen at", address, errno);
  return socket;
}

namespace {

// Where nobody listens at a port from which connections go out, the system may have given a socket that very port: it is then
// connected with itself.
bool is_connected_with_itself(const Fd& socket) {
  sockaddr_storage own{}, other{};
  socklen_t own_size = sizeof own, other_size = sizeof other;
  return ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
         ::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&other), &other_size) == 0 && own_size == other_size &&
         std::memcmp(&own, &other, own_size) == 0;
}

}  // namespace

Result<Fd> connect_to(const Address& address, const std::string& own_host, Deadline deadline) {
  ASSIGN_OR_RETURN(const Resolved found, resolve(address));
  int code = 0;
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    Fd socket = new_socket(*one);
    if (!socket.open() || !bind_to_host(socket, own_host)) {
      code = errno;
      continue;
    }
    code = ::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0 ? 0 : errno;
    if (code == EINPROGRESS) code = finish_connect(socket, deadline);
    if (code == 0 && is_connected_with_itself(socket)) code = ECONNREFUSED;
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (code == 0) return socket;
  }
  return failure("connect to", address, code);
}

Result<Address> local_address(const Fd& socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  char host[INET6_ADDRSTRLEN] = "";
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
    return Status::unavailable("cannot tell a socket's address: {}", std::strerror(errno));
  if (own.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(own);
    ::inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof host);
    return Address{.host = host, .port = ntohs(six.sin6_port)};
  }
  const auto& four = reinterpret_cast<const sockaddr_in&>(own);
  ::inet_ntop(AF_INET, &four.sin_addr, host, sizeof host);
  return Address{.host = host, .port = ntohs(four.sin_port)};
}

Result<std::vector<int>> free_ports(const std::string& host, int count) {
  std::random_device entropy;
  Random random((uint64_t{entropy()} << 32) | entropy());
  const int end = first_outgoing_port();
  std::vector<Fd> held;  // until all are found, so that no port comes twice
  std::vector<int> ports;
  for (int tries = 0; static_cast<int>(ports.size()) < count; ++tries) {
    const bool drawn = end > kFirstFreePort && tries < kTries + count;
    const int port = drawn ? kFirstFreePort + static_cast<int>(random.below(static_cast<uint64_t>(end - kFirstFreePort))) : 0;
    auto socket = listen_at({.host = host, .port = port});
    if (drawn && socket.status().code() == Code::already_exists) continue;
    if (!socket.ok()) return socket.status();
    ASSIGN_OR_RETURN(const Address address, local_address(*socket));
    ports.push_back(address.port);
    held.push_back(std::move(*socket));
  }
  return ports;
}

}  // namespace argosy
