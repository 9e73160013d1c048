#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/address.h"
#include "argosy/base/clock.h"
#include "argosy/base/fd.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/base/thread.h"
#include "argosy/rpc/limits.h"

namespace argosy::rpc {

// The listening sockets of a server, and who may be connected: connections are accepted here and handed on, so that there are
// only so many of them, and that one which does not show in time that it belongs to the job is closed.
//
// Owns the sockets, until they are handed on, and the thread "rpc-accept". Thread-safe.
class Door {
 public:
  // Gets a new connection, which is the callee's from then on. Called by the door's thread.
  using HandOn = std::function<void(int listener, int connection)>;

  // Binds and listens; an error names the address and the system's reason. Nobody is let in before start().
  static Result<std::unique_ptr<Door>> open(const Address& endpoint, const ServerLimits& limits);
  ~Door() { stop(); }

  int port() const { return port_; }
  void start(HandOn hand_on);
  // Nobody is let in any more; those who are stay. Safe to call twice.
  void stop();

  // The caller at `peer` (as gRPC writes it: "ipv4:127.0.0.1:4711") opens a stream, and has shown that it belongs to the job.
  // False: it has more open than it was told that it may; its connection is closed.
  bool let_in(std::string_view peer);
  void stream_ended(std::string_view peer);  // one that was let in
  // It has shown that it does not belong to the job: it is dropped when it has had time to read why, or goes on.
  void turn_out(std::string_view peer);

  struct Counters {
    LimitCount connections, strangers;
  };
  Counters counters() const;

 private:
  struct Visitor {
    int fd = -1;       // gRPC's; may be another file's by now
    uint64_t inode = 0;  // of the socket: whether it still is
    Fd held;           // the same socket: to shut it down by gRPC's number could hit another one
    SteadyClock::time_point drop_at = {};  // a stranger
    bool stranger = true;
    int streams = 0;  // open; of a stranger: how many were refused
  };
  using Visitors = std::map<std::string, Visitor>;  // by peer

  Door(const ServerLimits& limits, std::vector<Fd> listeners, Fd wake, int port);
  void run();
  void accept_from(int listener);
  bool make_room() ARGOSY_REQUIRES(mutex_);
  void sweep() ARGOSY_REQUIRES(mutex_);
  void drop(Visitors::iterator visitor) ARGOSY_REQUIRES(mutex_);
  void forget(Visitors::iterator visitor) ARGOSY_REQUIRES(mutex_);
  Visitors::iterator find(std::string_view peer) ARGOSY_REQUIRES(mutex_);
  void refill() ARGOSY_REQUIRES(mutex_);

  const ServerLimits limits_;
  const uint64_t most_connections_;
  std::vector<Fd> listeners_;  // constant until stop()
  const Fd wake_;
  const int port_;
  HandOn hand_on_;  // constant after start()
  mutable Mutex mutex_;
  Visitors visitors_ ARGOSY_GUARDED_BY(mutex_);
  size_t strangers_ ARGOSY_GUARDED_BY(mutex_) = 0;
  double drops_left_ ARGOSY_GUARDED_BY(mutex_) = 0;  // until accepting pauses
  Stopwatch since_refill_ ARGOSY_GUARDED_BY(mutex_), since_sweep_ ARGOSY_GUARDED_BY(mutex_);
  uint64_t refused_ ARGOSY_GUARDED_BY(mutex_) = 0, dropped_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace argosy::rpc
