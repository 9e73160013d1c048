#include "argosy/base/port_claim.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace argosy {
namespace {

// The first address of a host, as text.
std::string address_text(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return host;
  char text[NI_MAXHOST] = "";
  const bool known = ::getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0;
  ::freeaddrinfo(found);
  return known ? text : host;
}

}  // namespace

Result<PortClaim> PortClaim::take(const Address& address) {
  const std::string name = fmt::format("argosy-port-{}-{}", address.port, address_text(address.host));
  sockaddr_un own{};
  own.sun_family = AF_UNIX;
  const size_t size = std::min(name.size(), sizeof own.sun_path - 1);
  std::memcpy(own.sun_path + 1, name.data(), size);  // the first byte stays 0: no file
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.open()) return Status::unavailable("cannot make a socket for {}: {}", address.to_string(), std::strerror(errno));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), length) == 0) return PortClaim(std::move(socket));
  if (errno != EADDRINUSE) return Status::unavailable("cannot claim {}: {}", address.to_string(), std::strerror(errno));
  return Status::already_exists("another job of this machine has {}", address.to_string());
}

}  // namespace argosy
