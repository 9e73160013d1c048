#include "argosy/rpc/listeners.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace argosy::rpc {
namespace {

constexpr int kBacklog = 1024;

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Addresses> resolve(const Address& endpoint) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &wanted, &found);
  if (error == 0) return Addresses(found, freeaddrinfo);
  return Status::unavailable("cannot listen on {}: the name has no address: {}", endpoint.to_string(), gai_strerror(error));
}

Status cannot_listen(const Address& endpoint, int error) {
  if (error == EADDRINUSE) {
    return Status::unavailable("cannot listen on {}: another process uses the port; stop it or take another port",
                               endpoint.to_string());
  }
  return Status::unavailable("cannot listen on {}: {}", endpoint.to_string(), std::strerror(error));
}

// A listening socket; connections inherit its options.
Result<Fd> listen_at(const Address& endpoint, const sockaddr* address, socklen_t size) {
  Fd fd(::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.open()) return cannot_listen(endpoint, errno);
  const int on = 1, off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // connections of an earlier server may linger
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (address->sa_family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(fd.get(), address, size) != 0 || ::listen(fd.get(), kBacklog) != 0) return cannot_listen(endpoint, errno);
  return fd;
}

int port_of(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

void set_port(sockaddr_storage& address, int port) {
  auto& field = address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                              : reinterpret_cast<sockaddr_in&>(address).sin_port;
  field = htons(static_cast<uint16_t>(port));
}

}  // namespace

Result<Listeners> open_listeners(const Address& endpoint) {
  ASSIGN_OR_RETURN(const Addresses addresses, resolve(endpoint));
  Listeners opened{.sockets = {}, .port = endpoint.port};
  for (const addrinfo* next = addresses.get(); next != nullptr; next = next->ai_next) {
    sockaddr_storage address{};
    std::memcpy(&address, next->ai_addr, next->ai_addrlen);
    set_port(address, opened.port);
    auto listener = listen_at(endpoint, reinterpret_cast<sockaddr*>(&address), next->ai_addrlen);
    if (!listener.ok() && opened.sockets.empty()) return listener.status();
    if (!listener.ok()) continue;
    socklen_t size = sizeof address;
    if (::getsockname(listener->get(), reinterpret_cast<sockaddr*>(&address), &size) == 0) opened.port = port_of(address);
    opened.sockets.push_back(std::move(*listener));
  }
  if (opened.sockets.empty()) return cannot_listen(endpoint, EADDRNOTAVAIL);
  return opened;
}

std::string peer_name(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (!IN6_IS_ADDR_V4MAPPED(&v6)) {
      ::inet_ntop(AF_INET6, &v6, text.data(), text.size());
      return fmt::format("ipv6:[{}]:{}", text.data(), port_of(address));
    }
    ::inet_ntop(AF_INET, &v6.s6_addr[12], text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text.data(), text.size());
  }
  return fmt::format("ipv4:{}:{}", text.data(), port_of(address));
}

std::string without_percent_signs(std::string_view peer) {
  std::string text;
  for (size_t i = 0; i < peer.size(); ++i) {
    unsigned code = 0;
    if (peer[i] == '%' && i + 2 < peer.size() && std::sscanf(std::string(peer.substr(i + 1, 2)).c_str(), "%2x", &code) == 1) {
      text += static_cast<char>(code);
      i += 2;
    } else {
      text += peer[i];
    }
  }
  return text;
}

std::string host_of_peer(std::string_view peer) { return std::string(peer.substr(0, std::min(peer.size(), peer.rfind(':')))); }

}  // namespace argosy::rpc
