#include "argosy/rpc/door.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/rpc/door_pass.h"
#include "argosy/rpc/received_bytes.h"

namespace argosy::rpc {
namespace {

constexpr double kSweepSeconds = 0.25;
constexpr double kPauseSeconds = 0.02;           // while no connection may be accepted
constexpr std::chrono::seconds kReadingTime{1};  // for somebody who is turned out to read why
constexpr uint64_t kOwnFiles = 256;              // that the process keeps open besides connections
constexpr double kMostAtOnce = 512;              // arrivals of one address
constexpr double kBadEnd = 40;                   // what a connection that ends badly costs its address, in arrivals
// What a connection may send before its first request. gRPC's threads read on as long as there is more, and one that sends
// streams faster than they are made would keep them from the first one's token.
constexpr uint64_t kStrangersBytes = 16 << 10;
// How often that is looked at while there are some inside. In 10 ms one flooder sent 300 kB of pings on each of its connections,
// for which gRPC took six times as much memory.
constexpr double kStrangersSeconds = 0.002;
constexpr uint64_t kFirstStreams = 32;           // that a connection may open at once, besides those that it earns by age

uint64_t inode_of(int fd) {
  struct stat found{};
  return ::fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode) ? found.st_ino : 0;
}

// What this process can have: two files for a connection that gRPC has, one for a stranger at the threshold. Many systems let
// a process open 1024 files unless it asks for more.
RpcLimits within_open_files(RpcLimits limits) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return limits;
  const rlim_t wanted = std::min<rlim_t>(files.rlim_max, 2 * (limits.connections + kOwnFiles) + limits.strangers);
  if (wanted > files.rlim_cur) {
    files.rlim_cur = wanted;
    if (::setrlimit(RLIMIT_NOFILE, &files) != 0) ::getrlimit(RLIMIT_NOFILE, &files);
  }
  limits.strangers = std::min<uint64_t>(limits.strangers, files.rlim_cur / 8);
  const uint64_t others = std::min<uint64_t>(kOwnFiles, files.rlim_cur / 4) + limits.strangers;
  limits.connections = std::min<uint64_t>(limits.connections, (files.rlim_cur - others) / 2);
  return limits;
}

bool out_of_files(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS; }

pollfd polled_for_reading(int fd) { return {.fd = fd, .events = POLLIN, .revents = 0}; }

}  // namespace

Result<std::unique_ptr<Door>> Door::open(const Address& endpoint, const std::string& token, const RpcLimits& limits) {
  ASSIGN_OR_RETURN(Listeners listeners, open_listeners(endpoint));
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.open()) return Status::unavailable("cannot listen on {}: {}", endpoint.to_string(), std::strerror(errno));
  return std::unique_ptr<Door>(new Door(limits, door_pass(token), std::move(listeners), std::move(wake)));
}

Door::Door(const RpcLimits& limits, std::string pass, Listeners listeners, Fd wake)
    : limits_(within_open_files(limits)),
      pass_(std::move(pass)),
      listeners_(std::move(listeners)),
      wake_(std::move(wake)),
      accepts_left_(limits.connections_per_second),
      budget_(std::clamp(static_cast<double>(limits.connections), 8 * kBadEnd, kMostAtOnce), limits.arrivals_per_second) {}

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
  listeners_.sockets.clear();
  callers_.clear();
  MutexLock lock(mutex_);
  visitors_.clear();
  callers_count_ = strangers_inside_ = 0;
}

void Door::run() {
  std::vector<pollfd> polled;
  while (tend()) {
    const bool paused = accepts_left_ < 1;
    polled.assign(1, polled_for_reading(wake_.get()));
    for (const Caller& caller : callers_) polled.push_back(polled_for_reading(caller.fd.get()));
    const size_t listeners_at = polled.size();
    for (const Fd& listener : listeners_.sockets) {
      if (!paused) polled.push_back(polled_for_reading(listener.get()));
    }
    const double patience = std::min(paused ? kPauseSeconds : kSweepSeconds, patience_);
    if (::poll(polled.data(), polled.size(), static_cast<int>(patience * 1000)) <= 0) continue;
    auto caller = callers_.begin();
    for (size_t i = 1; i < listeners_at; ++i) {
      const auto next = std::next(caller);
      if (polled[i].revents != 0) hear(caller);
      caller = next;
    }
    for (size_t i = listeners_at; i < polled.size(); ++i) {
      while (polled[i].revents != 0 && accepts_left_ >= 1 && accept_from(polled[i].fd)) {
      }
    }
  }
}

bool Door::tend() {
  accepts_left_ =
      std::min(accepts_left_ + since_accepts_.seconds() * limits_.connections_per_second, limits_.connections_per_second);
  since_accepts_.restart();
  const Time now = SteadyClock::now();
  while (!callers_.empty() && callers_.front().drop_at <= now) send_away(callers_.begin(), {});
  MutexLock lock(mutex_);
  if (since_sweep_.seconds() >= kSweepSeconds) sweep(now);
  if (strangers_inside_ > 0 && since_strangers_.seconds() >= kStrangersSeconds) drop_strangers(now);
  patience_ = strangers_inside_ > 0 ? kStrangersSeconds : kSweepSeconds;
  return !stopped_;
}

// False where nobody waits.
bool Door::accept_from(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  Fd fd(::accept4(listener, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const int error = errno;
  MutexLock lock(mutex_);
  if (!fd.open()) {
    if (!out_of_files(error)) return false;
    ++refused_;
    accepts_left_ = 0;  // nothing is gained by trying again at once
    return false;
  }
  ++callers_count_;
  lock.unlock();
  accepts_left_ -= 1;
  if (callers_.size() >= limits_.strangers) send_away(callers_.begin(), {});
  const Time drop_at = Deadline::after_seconds(limits_.stranger_seconds).when();
  callers_.push_back({std::move(fd), listener, peer_name(address), {}, drop_at});
  return true;
}

// Takes what a caller says. It says its greeting in one piece, as a rule.
void Door::hear(Callers::iterator caller) {
  std::array<char, kLongestGreeting> bytes;
  const ssize_t got = ::recv(caller->fd.get(), bytes.data(), bytes.size() - caller->said.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return send_away(caller, {});
  caller->said.append(bytes.data(), static_cast<size_t>(got));
  switch (judge_greeting(caller->said, pass_)) {
    case Greeting::incomplete: return;
    case Greeting::good: return admit(caller);
    case Greeting::wrong_pass: {
      {
        MutexLock lock(mutex_);
        ++wrong_passes_;
      }
      return send_away(caller, kWrongPass);
    }
    case Greeting::malformed: return send_away(caller, {});
  }
}

void Door::send_away(Callers::iterator caller, std::string_view answer) {
  // Nothing has been sent before, so that it fits; a peer that does not take it does not need it.
  if (!answer.empty()) (void)!::send(caller->fd.get(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  MutexLock lock(mutex_);
  --callers_count_;
  ++dropped_;
  callers_.erase(caller);
}

// A caller with the pass: gRPC's from here on, where there is room.
void Door::admit(Callers::iterator caller) {
  Fd& fd = caller->fd;
  const Time now = SteadyClock::now();
  Visitor visitor{.fd = fd.get(), .inode = inode_of(fd.get()), .held = Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3))};
  visitor.came = now;
  visitor.drop_at = caller->drop_at;
  MutexLock lock(mutex_);
  const std::string host = host_of_peer(caller->peer);
  if (!visitor.held.open() || !budget_.has_any(host, now) || !make_room()) {
    ++refused_;
    lock.unlock();
    return send_away(caller, kNoRoom);
  }
  budget_.charge(host, 1, now);
  if (const auto closed = visitors_.find(caller->peer); closed != visitors_.end()) forget(closed);
  visitors_.emplace(caller->peer, std::move(visitor));
  ++strangers_inside_;
  --callers_count_;
  lock.unlock();
  // Nothing has been sent before, so that it fits. Where the caller has gone gRPC finds out.
  (void)!::send(fd.get(), kWelcome.data(), kWelcome.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  hand_on_(caller->listener, fd.release());
  callers_.erase(caller);
}

bool Door::make_room() {
  if (visitors_.size() >= limits_.connections) sweep(SteadyClock::now());
  if (strangers_inside_ >= limits_.strangers) {
    auto oldest = visitors_.end();
    for (auto visitor = visitors_.begin(); visitor != visitors_.end(); ++visitor) {
      if (!visitor->second.stranger) continue;
      if (oldest == visitors_.end() || visitor->second.drop_at < oldest->second.drop_at) oldest = visitor;
    }
    if (oldest != visitors_.end()) drop(oldest);
  }
  return visitors_.size() < limits_.connections;
}

// Forgets the connections that are closed.
void Door::sweep(Time now) {
  since_sweep_.restart();
  for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
    const auto next = std::next(visitor);
    if (inode_of(visitor->second.fd) != visitor->second.inode) forget(visitor);
    visitor = next;
  }
  drop_strangers(now);
}

// Those whose time is over or who have said too much.
void Door::drop_strangers(Time now) {
  since_strangers_.restart();
  for (auto visitor = visitors_.begin(); visitor != visitors_.end();) {
    const auto next = std::next(visitor);
    const Visitor& known = visitor->second;
    if (known.stranger && (known.drop_at <= now || received_bytes(known.held) > kStrangersBytes)) drop(visitor);
    visitor = next;
  }
}

void Door::forget(Visitors::iterator visitor) {
  const Visitor& gone = visitor->second;
  // gRPC closes a connection with too many streams by itself.
  const bool bad = gone.stranger || gone.opened >= static_cast<uint64_t>(limits_.streams_per_connection);
  if (bad) budget_.charge(host_of_peer(visitor->first), kBadEnd, SteadyClock::now());
  if (gone.stranger) --strangers_inside_;
  visitors_.erase(visitor);
}

void Door::drop(Visitors::iterator visitor) {
  const int fd = visitor->second.held.get();
  ::shutdown(fd, SHUT_RDWR);  // gRPC finds it closed, and closes its own
  // What has arrived would still be read, and opens streams: nobody needs it. The other end may be sending more.
  for (int i = 0; i < 16 && ::recv(fd, nullptr, 1 << 20, MSG_DONTWAIT | MSG_TRUNC) > 0; ++i) {
  }
  forget(visitor);
  ++dropped_;
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
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(SteadyClock::now() - visitor.came);
  const uint64_t may_open = kFirstStreams + static_cast<uint64_t>(age.count());
  // Twice: a stream may be over for the caller and not yet for this side.
  if (++visitor.streams <= 2 * limits_.streams_per_connection && ++visitor.opened <= may_open) return true;
  drop(found);
  return false;
}

void Door::heard_from(std::string_view peer) {
  MutexLock lock(mutex_);
  const auto visitor = find(peer);
  if (visitor == visitors_.end() || !visitor->second.stranger) return;
  visitor->second.stranger = false;
  --strangers_inside_;
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
  if (++visitor->second.refused > limits_.streams_per_connection) drop(visitor);
}

Door::Counters Door::counters() const {
  MutexLock lock(mutex_);
  return {.connections = {"connections", visitors_.size() + callers_count_, limits_.connections, refused_},
          .strangers = {"strangers", strangers_inside_ + callers_count_, limits_.strangers, dropped_},
          .wrong_passes = wrong_passes_};
}

}  // namespace argosy::rpc
