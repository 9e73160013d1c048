#include "argosy/launch/address.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

struct FreeInfo {
  void operator()(addrinfo* info) const { ::freeaddrinfo(info); }
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};
using Resolved = std::unique_ptr<addrinfo, FreeInfo>;

Resolved resolve(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found) != 0) return nullptr;
  return Resolved(found);
}

// The bytes of the address alone; empty for a family that is not the internet's.
std::string_view bytes_of(const sockaddr* address) {
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET)
    return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr), sizeof(in_addr)};
  if (address->sa_family == AF_INET6)
    return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr), sizeof(in6_addr)};
  return {};
}

bool is_loopback(const sockaddr* address) {
  const std::string_view bytes = bytes_of(address);
  if (bytes.size() == sizeof(in_addr)) return bytes[0] == 127;
  return bytes.size() == sizeof(in6_addr) && std::memcmp(bytes.data(), &in6addr_loopback, sizeof(in6_addr)) == 0;
}

bool is_interface(const sockaddr* address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, FreeInfo> owner(list);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (!bytes_of(address).empty() && bytes_of(one->ifa_addr) == bytes_of(address)) return true;
  }
  return false;
}

bool is_taken(const addrinfo& where) {
  const int fd = ::socket(where.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // a port whose last user has just left is free
  const bool taken = ::bind(fd, where.ai_addr, where.ai_addrlen) != 0 && errno == EADDRINUSE;
  ::close(fd);
  return taken;
}

}  // namespace

Result<Address> Address::parse(const std::string& endpoint) {
  const size_t bracket = endpoint.rfind(']'), colon = endpoint.rfind(':');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  Address address{.host = endpoint.substr(0, has_port ? colon : std::string::npos)};
  if (has_port) {
    const auto port = parse_integer(std::string_view(endpoint).substr(colon + 1));
    if (!port || *port < 1 || *port > 65535) return Status::invalid_argument("endpoint '{}' is not host:port", endpoint);
    address.port = static_cast<int>(*port);
  }
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host.empty()) return Status::invalid_argument("endpoint '{}' has no host", endpoint);
  return address;
}

bool is_this_machine(const std::string& host) {
  const Resolved found = resolve({.host = host});
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    if (is_loopback(one->ai_addr) || is_interface(one->ai_addr)) return true;
  }
  return false;
}

Status check_ports_free(const std::vector<std::string>& endpoints) {
  for (const std::string& endpoint : endpoints) {
    ASSIGN_OR_RETURN(const Address address, Address::parse(endpoint));
    const Resolved found = resolve(address);
    for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
      if (is_taken(*one))
        return Status::already_exists("port {} of {} is in use; choose others with --start_port or --servers", address.port,
                                      address.host);
    }
  }
  return {};
}

}  // namespace argosy::launch
