#include "argosy/testing/flooder.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>

#include <cerrno>
#include <utility>

#include "argosy/base/check.h"
#include "argosy/rpc/door_pass.h"
#include "argosy/rpc/wire_frame.h"

namespace argosy::testing {
namespace {

constexpr int kBatch = 200;  // frames that are made at once
constexpr uint64_t kCallsUnderWay = 400;
constexpr uint64_t kAnswerBytes = 9 + 5 + rpc::kFramePrelude;  // HTTP/2's, gRPC's and our own head

// ---- HTTP/2, as far as somebody needs it who is up to no good.

enum FrameType : char { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kWindowUpdate = 8, kContinuation = 9 };
constexpr char kAcknowledges = 1, kEndsHeaders = 4;

std::string http2_frame(char type, char flags, uint32_t stream, const std::string& payload) {
  std::string bytes;
  for (const int shift : {16, 8, 0}) bytes += static_cast<char>(payload.size() >> shift);
  bytes += type;
  bytes += flags;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(stream >> shift);
  return bytes + payload;
}

std::string header(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
}

std::string in_base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t j = i; j < i + 3; ++j) three = three << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0);
    for (size_t j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : kDigits[three >> (18 - 6 * j) & 63];
  }
  return text;
}

std::string stream_headers(const std::string& token) {
  return "\x83\x86" + header(":path", "/argosy/call") + header(":authority", "x") + header("te", "trailers") +
         header("content-type", "application/grpc") + header("argosy-token-bin", in_base64(token));
}

// Takes any amount of answers: streams and the connection have the largest window.
std::string http2_greeting() {
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + http2_frame(kSettings, 0, 0, std::string("\0\x4\x7f\xff\xff\xff", 6)) +
         http2_frame(kWindowUpdate, 0, 0, std::string("\x7f\xff\0\0", 4));
}

std::string door_greeting(const std::string& token) {
  return fmt::format("CONNECT {} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Argosy {}\r\n\r\n", rpc::kGreetedServer,
                     rpc::door_pass(token));
}

// A ping of our own protocol, as a gRPC message.
std::string call_on(uint32_t stream) {
  const std::string frame = rpc::frame_head({.kind = rpc::kPingMethod, .call = 1, .wait_us = 1'000'000}, "", 0);
  return http2_frame(kData, 0, stream, std::string(4, '\0') + static_cast<char>(frame.size()) + frame);
}

void end_within(const Fd& fd, int option, int microseconds) {
  const timeval patience{.tv_sec = 0, .tv_usec = microseconds};
  ::setsockopt(fd.get(), SOL_SOCKET, option, &patience, sizeof patience);
}

}  // namespace

const std::vector<FloodKind>& all_flood_kinds() {
  using enum FloodKind;
  static const std::vector<FloodKind> kinds = {silence,      half_a_greeting, streams, streams_unacknowledged,
                                               rapid_resets, settings,        pings,   endless_headers,
                                               tiny_headers, window_updates,  calls};
  return kinds;
}

const char* name_of(FloodKind kind) {
  switch (kind) {
    case FloodKind::silence: return "silence";
    case FloodKind::half_a_greeting: return "half_a_greeting";
    case FloodKind::streams: return "streams";
    case FloodKind::streams_unacknowledged: return "streams_unacknowledged";
    case FloodKind::rapid_resets: return "rapid_resets";
    case FloodKind::settings: return "settings";
    case FloodKind::pings: return "pings";
    case FloodKind::endless_headers: return "endless_headers";
    case FloodKind::tiny_headers: return "tiny_headers";
    case FloodKind::window_updates: return "window_updates";
    case FloodKind::calls: return "calls";
  }
  return "?";
}

Flooder::Flooder(int port, FloodOptions options)
    : port_(port),
      options_(std::move(options)),
      greeting_(options_.token.empty() ? "" : door_greeting(options_.token)),
      thread_("flooder", [this] { run(); }) {}

void Flooder::run() {
  if (options_.elsewhere) {
    const sched_param none{};
    ARGOSY_CHECK(::pthread_setschedparam(::pthread_self(), SCHED_IDLE, &none) == 0, "SCHED_IDLE is refused");
  }
  std::vector<Connection> connections(options_.connections);
  while (!stop_) {
    for (Connection& connection : connections) {
      work(connection);
      rest();
      if (stop_) return;
    }
  }
}

void Flooder::work(Connection& connection) {
  if (!connection.fd.open()) return connect(connection);
  if (!listen(connection)) return connection.fd.close();
  speak(connection);
}

void Flooder::connect(Connection& connection) {
  connection = {};
  connection.fd = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port_));
  end_within(connection.fd, SO_SNDTIMEO, 50'000);
  if (::connect(connection.fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return connection.fd.close();
  }
  ++connected_;
  if (options_.kind == FloodKind::silence) return;
  if (options_.kind == FloodKind::half_a_greeting) {
    connection.unsent = "CONNECT argosy HTTP/1.1\r\nHost: ";
    return;
  }
  connection.welcome = greeting_.empty();
  connection.unsent = greeting_.empty() ? http2_greeting() : greeting_;
}

bool Flooder::listen(Connection& connection) {
  char bytes[65536];
  ssize_t got = 0;
  while ((got = ::recv(connection.fd.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
    if (connection.began) connection.answer_bytes += static_cast<uint64_t>(got);
    if (!std::exchange(connection.welcome, true)) {
      connection.unsent += http2_greeting();
    } else if (!std::exchange(connection.agreed, true) && options_.kind != FloodKind::streams_unacknowledged) {
      connection.unsent += http2_frame(kSettings, kAcknowledges, 0, "");
    }
  }
  return got != 0 && errno == EAGAIN;
}

void Flooder::speak(Connection& connection) {
  if (connection.unsent.empty() && connection.agreed) connection.unsent = more(connection);
  const ssize_t sent =
      ::send(connection.fd.get(), connection.unsent.data(), connection.unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0) connection.unsent.erase(0, static_cast<size_t>(sent));
  if (sent > 0) bytes_sent_ += static_cast<uint64_t>(sent);
  if (sent < 0 && errno == EAGAIN) {  // the server does not read on: no use in asking again and again
    pollfd writable{.fd = connection.fd.get(), .events = POLLOUT, .revents = 0};
    ::poll(&writable, 1, options_.connections == 1 ? 10 : 0);
  } else if (sent < 0) {
    connection.fd.close();
  }
}

std::string Flooder::more(Connection& connection) {
  const std::string opening = stream_headers(options_.token.empty() ? "guess" : options_.token);
  const auto open = [&](char flags) {
    const std::string frame = http2_frame(kHeaders, flags, connection.next_stream, opening);
    connection.next_stream += 2;
    return frame;
  };
  const bool first = !std::exchange(connection.began, true);
  std::string bytes;
  for (int i = 0; i < kBatch; ++i) {
    switch (options_.kind) {
      case FloodKind::silence:
      case FloodKind::half_a_greeting: break;
      case FloodKind::streams:
      case FloodKind::streams_unacknowledged: bytes += open(kEndsHeaders); break;
      case FloodKind::rapid_resets: {
        const uint32_t stream = connection.next_stream;
        bytes += open(kEndsHeaders) + http2_frame(kReset, 0, stream, std::string("\0\0\0\x8", 4));
        break;
      }
      case FloodKind::settings: bytes += http2_frame(kSettings, 0, 0, std::string("\0\x4\0\1\0\0", 6)); break;
      case FloodKind::pings: bytes += http2_frame(kPing, 0, 0, "01234567"); break;
      case FloodKind::endless_headers:
        bytes += first && i == 0 ? open(0) : http2_frame(kContinuation, 0, 1, header("x", std::string(100, 'x')));
        break;
      case FloodKind::tiny_headers:
        // A byte of a header's name whose length says that there are many.
        bytes += first && i == 0 ? http2_frame(kHeaders, 0, 1, std::string("\0\x7f\xff\x7f", 4))
                                 : http2_frame(kContinuation, 0, 1, "x");
        break;
      case FloodKind::window_updates: bytes += http2_frame(kWindowUpdate, 0, 0, std::string("\0\0\0\1", 4)); break;
      case FloodKind::calls:
        if (first && i == 0) {
          bytes += open(kEndsHeaders);
        } else if (const uint64_t answers = connection.answer_bytes / kAnswerBytes;
                   connection.calls < (answers == 0 ? 1 : kCallsUnderWay + answers)) {
          bytes += call_on(1);
          ++connection.calls;
        }
        break;
    }
  }
  return bytes;
}

// Sleeps off what it has used of the processor beyond a half.
void Flooder::rest() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  const double seconds = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  const double ahead = 2 * seconds - watch_.seconds();
  if (ahead > 0.001) ::poll(nullptr, 0, static_cast<int>(ahead * 1000));
}

}  // namespace argosy::testing
