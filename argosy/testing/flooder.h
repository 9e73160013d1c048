#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/fd.h"
#include "argosy/base/thread.h"

namespace argosy::testing {

// What somebody sends who is up to no good.
enum class FloodKind {
  silence,             // nothing: connections that stay
  half_a_greeting,     // the beginning of what the door wants to hear, and no more
  streams,             // new ones, as a gRPC client would open them
  streams_unacknowledged,  // the same without ever acknowledging the server's settings, which would bind it
  rapid_resets,        // streams that are opened and reset at once
  settings,            // which the server must acknowledge
  pings,               // which the server must answer
  endless_headers,     // CONTINUATION frames without an end
  tiny_headers,        // CONTINUATION frames of one byte
  window_updates,      // which cost nothing to make
  calls,                   // good ones, as fast as they are answered, some hundred at a time
};
const char* name_of(FloodKind kind);
const std::vector<FloodKind>& all_flood_kinds();

struct FloodOptions {
  FloodKind kind = FloodKind::silence;
  std::string token;  // empty: does without the door's greeting, and sends HTTP/2 at once
  size_t connections = 1;
  bool elsewhere = false;  // takes only time that no other thread wants, as if it ran on another machine
};

// Keeps so many connections to a server at 127.0.0.1 busy, or opens them again where they are closed, on one thread that takes
// half of a core at most. Owns the thread "flooder".
class Flooder {
 public:
  Flooder(int port, FloodOptions options);
  ~Flooder() { stop_ = true; }
  Flooder(const Flooder&) = delete;

  uint64_t connected() const { return connected_; }
  uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  struct Connection {
    Fd fd;
    uint32_t next_stream = 1;
    std::string unsent;
    bool welcome = false;  // the door has let it in, or it did not ask
    bool agreed = false;   // it has the server's settings, and has said so: from then on they bind it
    bool began = false;
    uint64_t calls = 0, answer_bytes = 0;
  };

  void run();
  void work(Connection& connection);
  void connect(Connection& connection);
  bool listen(Connection& connection);  // false where it is closed
  void speak(Connection& connection);
  std::string more(Connection& connection);
  void rest();

  const int port_;
  const FloodOptions options_;
  const std::string greeting_;
  const Stopwatch watch_;
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> connected_ = 0, bytes_sent_ = 0;
  Thread thread_;
};

}  // namespace argosy::testing
