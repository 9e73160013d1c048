#include "argosy/testing/tcp_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <list>
#include <utility>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"

namespace argosy::testing {
namespace {

constexpr size_t kMostWaitingBytes = 8 << 20;  // of one direction; then the sender waits

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

// A socket that is closed with it; by a reset where it is not at its end. Not copied: one owner.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  void reset_on_close() const {
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }

 private:
  int fd_;
};

// One direction of a connection: bytes wait until they are due.
struct Direction {
  struct Chunk {
    SteadyClock::time_point due;
    std::string bytes;
  };
  std::deque<Chunk> waiting;
  size_t waiting_bytes = 0;
  bool ended = false;  // the sender has closed
  bool told = false;   // and the receiver knows

  bool wants_more() const { return !ended && waiting_bytes < kMostWaitingBytes; }
  bool due(SteadyClock::time_point now) const { return !waiting.empty() && waiting.front().due <= now; }

  // What is done with bytes that have come.
  struct Treatment {
    std::chrono::milliseconds delay{0};
    bool lose = false;
  };

  // False where the connection is broken. The treatment is asked for when the bytes are here: a setting that was changed before
  // they were sent holds for them.
  template <typename Ask>
  bool read(int from, const Ask& treatment, bool& lost) {
    std::array<char, 65536> bytes;
    const ssize_t count = recv(from, bytes.data(), bytes.size(), 0);
    if (count < 0) return errno == EAGAIN;
    const Treatment now = treatment();
    if (count == 0) {
      ended = true;
    } else if (now.lose) {
      lost = true;
    } else {
      waiting.push_back({SteadyClock::now() + now.delay, std::string(bytes.data(), static_cast<size_t>(count))});
      waiting_bytes += static_cast<size_t>(count);
    }
    return true;
  }

  bool write(int to) {
    for (const auto now = SteadyClock::now(); due(now);) {
      std::string& bytes = waiting.front().bytes;
      const ssize_t count = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count < 0) return errno == EAGAIN;
      waiting_bytes -= static_cast<size_t>(count);
      bytes.erase(0, static_cast<size_t>(count));
      if (bytes.empty()) waiting.pop_front();
    }
    if (ended && !told && waiting.empty()) {
      shutdown(to, SHUT_WR);
      told = true;
    }
    return true;
  }
};

struct Connection {
  Socket client, server;
  Direction up, down;
  bool lost_bytes = false;
  bool dead = false;
};

}  // namespace

class TcpProxy::Loop {
 public:
  Loop(Socket listener, Socket wake, int port, int target_port)
      : listener_(std::move(listener)), wake_(std::move(wake)), port_(port), target_port_(target_port) {
    thread_ = Thread("tcp-proxy", [this] { run(); });
  }
  ~Loop() {
    change([](Settings& settings) { settings.stop = true; });
    thread_.join();
  }

  struct Settings {
    std::chrono::milliseconds delay{0};
    bool lose_answers = false, refuse = false, stop = false;
    bool cut = false;  // taken back when it has been done
    uint64_t connections = 0;
  };

  template <typename Change>
  void change(Change change) {
    {
      MutexLock lock(mutex_);
      change(settings_);
    }
    eventfd_write(wake_.fd(), 1);
  }
  Settings settings() const {
    MutexLock lock(mutex_);
    return settings_;
  }
  int port() const { return port_; }

 private:
  void run() {
    for (;;) {
      const std::vector<pollfd> polled = wait();
      MutexLock lock(mutex_);
      const Settings now = settings_;
      settings_.cut = false;
      lock.unlock();
      if (now.stop) return;
      move_bytes(polled);
      bury(now);
      if (polled[1].revents != 0) accept_one(now);
    }
  }

  void bury(const Settings& now) {
    for (auto at = connections_.begin(); at != connections_.end();) {
      const bool reset = at->dead || now.cut || (at->lost_bytes && !now.lose_answers);
      if (reset) {
        at->client.reset_on_close();
        at->server.reset_on_close();
      }
      at = reset || (at->up.told && at->down.told) ? connections_.erase(at) : std::next(at);
    }
  }

  // The sockets that have something to do: the wake-up, the listener, then client and server of each connection.
  std::vector<pollfd> wait() const {
    std::vector<pollfd> polled{{wake_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}};
    for (const Connection& connection : connections_) {
      polled.push_back(interest(connection.client.fd(), connection.up, connection.down));
      polled.push_back(interest(connection.server.fd(), connection.down, connection.up));
    }
    poll(polled.data(), polled.size(), milliseconds_to_next());
    if (eventfd_t ignored; polled[0].revents != 0) eventfd_read(wake_.fd(), &ignored);
    return polled;
  }

  void move_bytes(const std::vector<pollfd>& polled) {
    size_t at = 2;
    for (Connection& connection : connections_) {
      move(connection, polled[at].revents, polled[at + 1].revents);
      at += 2;
    }
  }

  // What to wait for at a socket that `from` is read from and `to` is written to.
  static pollfd interest(int fd, const Direction& from, const Direction& to) {
    const int events = (from.wants_more() ? POLLIN : 0) | (to.due(SteadyClock::now()) ? POLLOUT : 0);
    return {events == 0 ? -1 : fd, static_cast<short>(events), 0};
  }

  int milliseconds_to_next() const {
    auto next = SteadyClock::now() + std::chrono::seconds(10);
    for (const Connection& connection : connections_) {
      for (const Direction* direction : {&connection.up, &connection.down}) {
        if (!direction->waiting.empty()) next = std::min(next, direction->waiting.front().due);
      }
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - SteadyClock::now());
    return static_cast<int>(std::max<int64_t>(left.count(), 0));
  }

  void move(Connection& connection, short client_events, short server_events) const {
    constexpr short kReadable = POLLIN | POLLHUP | POLLERR;
    bool fine = true;
    if ((client_events & kReadable) != 0 && connection.up.wants_more()) {
      bool none = false;
      fine &=
          connection.up.read(connection.client.fd(), [this] { return Direction::Treatment{.delay = settings().delay}; }, none);
    }
    if ((server_events & kReadable) != 0 && connection.down.wants_more()) {
      const auto treatment = [this] {
        const Settings now = settings();
        return Direction::Treatment{now.delay, now.lose_answers};
      };
      fine &= connection.down.read(connection.server.fd(), treatment, connection.lost_bytes);
    }
    fine &= connection.up.write(connection.server.fd());
    fine &= connection.down.write(connection.client.fd());
    connection.dead = !fine;
  }

  void accept_one(const Settings& now) {
    Socket client(accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (client.fd() < 0) return;
    Socket server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in target = loopback(target_port_);
    if (now.refuse || connect(server.fd(), reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0) {
      client.reset_on_close();
      return;
    }
    fcntl(server.fd(), F_SETFL, O_NONBLOCK);
    const int on = 1;
    for (const Socket* socket : {&client, &server}) setsockopt(socket->fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections_.push_back({std::move(client), std::move(server), {}, {}});
    MutexLock lock(mutex_);
    ++settings_.connections;
  }

  const Socket listener_, wake_;
  const int port_, target_port_;
  mutable Mutex mutex_;
  Settings settings_ ARGOSY_GUARDED_BY(mutex_);
  std::list<Connection> connections_;  // the thread's own
  Thread thread_;
};

TcpProxy::TcpProxy(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
TcpProxy::~TcpProxy() = default;

Result<std::unique_ptr<TcpProxy>> TcpProxy::start(int target_port) {
  Socket listener(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (listener.fd() < 0 || bind(listener.fd(), plain, size) != 0 || listen(listener.fd(), 64) != 0 ||
      getsockname(listener.fd(), plain, &size) != 0) {
    return Status::unavailable("the proxy cannot listen on 127.0.0.1: {}", std::strerror(errno));
  }
  Socket wake(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  auto loop = std::make_unique<Loop>(std::move(listener), std::move(wake), ntohs(address.sin_port), target_port);
  return std::unique_ptr<TcpProxy>(new TcpProxy(std::move(loop)));
}

int TcpProxy::port() const { return loop_->port(); }
std::string TcpProxy::endpoint() const { return "127.0.0.1:" + std::to_string(port()); }

void TcpProxy::set_delay(std::chrono::milliseconds delay) {
  loop_->change([=](Loop::Settings& settings) { settings.delay = delay; });
}
void TcpProxy::set_lose_answers(bool lose) {
  loop_->change([=](Loop::Settings& settings) { settings.lose_answers = lose; });
}
void TcpProxy::set_refuse(bool refuse) {
  loop_->change([=](Loop::Settings& settings) { settings.refuse = refuse; });
}
void TcpProxy::cut() {
  loop_->change([](Loop::Settings& settings) { settings.cut = true; });
}
uint64_t TcpProxy::connections() const { return loop_->settings().connections; }

}  // namespace argosy::testing
