#include "argosy/rpc/door.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "argosy/base/mutex.h"

namespace argosy::rpc {
namespace {

constexpr int kBacklog = 1024;
constexpr double kSweepSeconds = 0.25;
constexpr std::chrono::seconds kReadingTime{1};  // for somebody who is turned out to read why
constexpr uint64_t kOwnFiles = 256;              // that the process keeps open besides connections
constexpr double kBurstSeconds = 2;              // of strangers_per_second

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

// As gRPC names the other end of a connection, but without percent signs.
std::string peer_of(const sockaddr_storage& address) {
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

uint64_t inode_of(int fd) {
  struct stat found{};
  return ::fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode) ? found.st_ino : 0;
}

// How many this process can have, two files each. Many systems let a process open 1024 files unless it asks for more.
uint64_t most_connections(const ServerLimits& limits) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return limits.connections;
  const rlim_t wanted = std::min<rlim_t>(files.rlim_max, 2 * (limits.connections + kOwnFiles));
  if (wanted > files.rlim_cur) {
    files.rlim_cur = wanted;
    if (::setrlimit(RLIMIT_NOFILE, &files) != 0) ::getrlimit(RLIMIT_NOFILE, &files);
  }
  const uint64_t room = files.rlim_cur > 2 * kOwnFiles ? files.rlim_cur - kOwnFiles : files.rlim_cur / 2;
  return std::min<uint64_t>(limits.connections, room / 2);
}

}  // namespace

Result<std::unique_ptr<Door>> Door::open(const Address& endpoint, const ServerLimits& limits) {
  ASSIGN_OR_RETURN(const Addresses addresses, resolve(endpoint));
  std::vector<Fd> listeners;
  int port = endpoint.port;
  // All addresses of a name, at one port; the first must work.
  for (const addrinfo* next = addresses.get(); next != nullptr; next = next->ai_next) {
    sockaddr_storage address{};
    std::memcpy(&address, next->ai_addr, next->ai_addrlen);
    set_port(address, port);
    auto listener = listen_at(endpoint, reinterpret_cast<sockaddr*>(&address), next->ai_addrlen);
    if (!listener.ok() && listeners.empty()) return listener.status();
    if (!listener.ok()) continue;
    socklen_t size = sizeof address;
    if (::getsockname(listener->get(), reinterpret_cast<sockaddr*>(&address), &size) == 0) port = port_of(address);
    listeners.push_back(std::move(*listener));
  }
  if (listeners.empty()) return cannot_listen(endpoint, EADDRNOTAVAIL);
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.open()) return cannot_listen(endpoint, errno);
  return std::unique_ptr<Door>(new Door(limits, std::move(listeners), std::move(wake), port));
}

Door::Door(const ServerLimits& limits, std::vector<Fd> listeners, Fd wake, int port)
    : limits_(limits),
      most_connections_(most_connections(limits)),
      listeners_(std::move(listeners)),
      wake_(std::move(wake)),
      port_(port),
      drops_left_(limits.strangers_per_second * kBurstSeconds) {}

void Door::start(HandOn hand_on) {
  hand_on_ = std::move(hand_on);
  thread_ = Thread("rpc-accept", [this] { run(); });
}

void Door::stop() {
  {
    MutexLock lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
  thread_.join();
  MutexLock lock(mutex_);
  listeners_.clear();
  visitors_.clear();
  strangers_ = 0;
}

void Door::run() {
  std::vector<pollfd> polled{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  for (const Fd& listener : listeners_) polled.push_back({.fd = listener.get(), .events = POLLIN, .revents = 0});
  for (;;) {
    bool paused = false;
    {
      MutexLock lock(mutex_);
      if (stopped_) return;
      if (since_sweep_.seconds() >= kSweepSeconds) sweep();
      refill();
      paused = drops_left_ < 1;
    }
    const nfds_t count = paused ? 1 : polled.size();
    const int ready = ::poll(polled.data(), count, static_cast<int>(kSweepSeconds * 1000 / (paused ? 10 : 1)));
    for (size_t i = 1; ready > 0 && i < count; ++i) {
      if ((polled[i].revents & POLLIN) != 0) accept_from(polled[i].fd);
    }
  }
}

void Door::refill() {
  drops_left_ = std::min(drops_left_ + since_refill_.seconds() * limits_.strangers_per_second,
                         limits_.strangers_per_second * kBurstSeconds);
  since_refill_.restart();
}

// One connection; the next one is accepted when the limits have been looked at again.
void Door::accept_from(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  Fd fd(::accept4(listener, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  {
    MutexLock lock(mutex_);
    if (!fd.open()) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        ++refused_;
        drops_left_ = std::min(drops_left_, 0.0);  // nothing is gained by trying again at once
      }
      return;
    }
    Visitor visitor{.fd = fd.get(), .inode = inode_of(fd.get()), .held = Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3))};
    if (!make_room() || !visitor.held.open()) {
      ++refused_;
      drops_left_ -= 1;
      return;  // closes it
    }
    visitor.drop_at = Deadline::after_seconds(limits_.stranger_seconds).when();
    const std::string peer = peer_of(address);
    if (const auto closed = visitors_.find(peer); closed != visitors_.end()) forget(closed);
    visitors_.emplace(peer, std::move(visitor));
    ++strangers_;
  }
  hand_on_(listener, fd.release());
}

bool Door::make_room() {
  if (visitors_.size() >= most_connections_) sweep();
  if (strangers_ >= limits_.strangers) {
    auto oldest = visitors_.end();
    for (auto visitor = visitors_.begin(); visitor != visitors_.end(); ++visitor) {
      if (!visitor->second.stranger) continue;
      if (oldest == visitors_.end() || visitor->second.drop_at < oldest->second.drop_at) oldest = visitor;
    }
    if (oldest != visitors_.end()) drop(oldest);
  }
  return visitors_.size() < most_connections_;
}

// Forgets the connections that are closed, and drops strangers whose time is over.
void Door::sweep() {
  since_sweep_.restart();
  const auto now = SteadyClock::now();
  for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
    const auto next = std::next(visitor);
    if (inode_of(visitor->second.fd) != visitor->second.inode) {
      forget(visitor);
    } else if (visitor->second.stranger && visitor->second.drop_at <= now) {
      drop(visitor);
    }
    visitor = next;
  }
}

void Door::forget(Visitors::iterator visitor) {
  if (visitor->second.stranger) --strangers_;
  visitors_.erase(visitor);
}

void Door::drop(Visitors::iterator visitor) {
  const int fd = visitor->second.held.get();
  ::shutdown(fd, SHUT_RDWR);  // gRPC finds it closed, and closes its own
  // What has arrived would still be read, and opens streams: nobody needs it.
  while (::recv(fd, nullptr, 1 << 20, MSG_DONTWAIT | MSG_TRUNC) > 0) {
  }
  forget(visitor);
  ++dropped_;
  drops_left_ -= 1;
}

Door::Visitors::iterator Door::find(std::string_view peer) {
  const std::string name = without_percent_signs(peer);
  if (const auto found = visitors_.find(name); found != visitors_.end()) return found;
  // An address that is written in another way: its port says enough.
  const std::string_view port = std::string_view(name).substr(std::min(name.size(), name.rfind(':')));
  return std::ranges::find_if(visitors_, [&](const auto& visitor) { return !port.empty() && visitor.first.ends_with(port); });
}

bool Door::let_in(std::string_view peer) {
  MutexLock lock(mutex_);
  const auto found = find(peer);
  if (found == visitors_.end()) return true;
  Visitor& visitor = found->second;
  if (visitor.stranger) {
    visitor.stranger = false;
    visitor.streams = 0;
    --strangers_;
  }
  // Twice: a stream may be over for the caller and not yet for this side.
  if (++visitor.streams <= 2 * limits_.streams_per_connection) return true;
  drop(found);
  return false;
}

void Door::stream_ended(std::string_view peer) {
  MutexLock lock(mutex_);
  if (const auto visitor = find(peer); visitor != visitors_.end()) --visitor->second.streams;
}

void Door::turn_out(std::string_view peer) {
  MutexLock lock(mutex_);
  const auto visitor = find(peer);
  if (visitor == visitors_.end() || !visitor->second.stranger) return;
  visitor->second.drop_at = std::min(visitor->second.drop_at, SteadyClock::now() + kReadingTime);
  if (++visitor->second.streams > limits_.streams_per_connection) drop(visitor);
}

Door::Counters Door::counters() const {
  MutexLock lock(mutex_);
  return {.connections = {"connections", visitors_.size(), most_connections_, refused_},
          .strangers = {"strangers", strangers_, limits_.strangers, dropped_}};
}

}  // namespace argosy::rpc
