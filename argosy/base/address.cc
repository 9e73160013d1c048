#include "argosy/base/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "argosy/base/text.h"

namespace argosy {
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

class Interfaces {
 public:
  Interfaces() {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) == 0) list_.reset(list);
  }
  template <typename Predicate>
  const sockaddr* find(Predicate&& wanted) const {
    for (const ifaddrs* one = list_.get(); one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr != nullptr && wanted(*one)) return one->ifa_addr;
    }
    return nullptr;
  }
  bool have(const sockaddr* address) const {
    return find([&](const ifaddrs& one) { return !bytes_of(address).empty() && bytes_of(one.ifa_addr) == bytes_of(address); }) !=
           nullptr;
  }

 private:
  std::unique_ptr<ifaddrs, FreeInfo> list_;
};

std::string to_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(address->sa_family, bytes_of(address).data(), text, sizeof text);
  return text;
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

// The host without brackets, empty where it cannot be one, and ":port", empty where there is none.
std::pair<std::string, std::string> split_endpoint(const std::string& endpoint) {
  const size_t bracket = endpoint.rfind(']'), colon = endpoint.rfind(':');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  std::string host = endpoint.substr(0, has_port ? colon : std::string::npos);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":/[] ") != std::string::npos) {
    host.clear();
  }
  return {host, has_port ? endpoint.substr(colon) : ""};
}

}  // namespace

Result<Address> Address::parse(const std::string& endpoint) {
  const auto [host, port] = split_endpoint(endpoint);
  if (!port.empty()) {
    ASSIGN_OR_RETURN(Address address, parse_with_port(endpoint));
    if (address.port == 0) return Status::invalid_argument("endpoint '{}' has port 0; expected 1 to 65535", endpoint);
    return address;
  }
  if (host.empty()) return Status::invalid_argument("endpoint '{}' has no host", endpoint);
  return Address{.host = host};
}

Result<Address> Address::parse_with_port(const std::string& endpoint) {
  const auto [host, port] = split_endpoint(endpoint);
  const int64_t number = port.empty() ? -1 : parse_integer(std::string_view(port).substr(1)).value_or(-1);
  if (host.empty() || number < 0 || number > 65535) {
    return Status::invalid_argument("'{}' is no address; expected host:port, such as 10.0.0.5:6170 or [::1]:6170", endpoint);
  }
  return Address{.host = host, .port = static_cast<int>(number)};
}

std::string Address::to_string() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

bool same_host(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const Resolved first = resolve({.host = a}), second = resolve({.host = b});
  for (const addrinfo* one = first.get(); one != nullptr; one = one->ai_next) {
    for (const addrinfo* other = second.get(); other != nullptr; other = other->ai_next) {
      if (bytes_of(one->ai_addr) == bytes_of(other->ai_addr)) return true;
    }
  }
  return false;
}

bool is_this_machine(const std::string& host) {
  const Resolved found = resolve({.host = host});
  const Interfaces interfaces;
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    if (is_loopback(one->ai_addr) || interfaces.have(one->ai_addr)) return true;
  }
  return false;
}

bool is_port_in_use(const Address& address) {
  const Resolved found = resolve(address);
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    if (is_taken(*one)) return true;
  }
  return false;
}

std::string own_address() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  const Resolved found = resolve({.host = name});
  const Interfaces interfaces;
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    if (one->ai_family == AF_INET && !is_loopback(one->ai_addr) && interfaces.have(one->ai_addr)) return to_text(one->ai_addr);
  }
  const sockaddr* first = interfaces.find([](const ifaddrs& one) {
    return one.ifa_addr->sa_family == AF_INET && (one.ifa_flags & IFF_UP) != 0 && !is_loopback(one.ifa_addr);
  });
  return first != nullptr ? to_text(first) : "127.0.0.1";
}

}  // namespace argosy
