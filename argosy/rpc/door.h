#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "argosy/base/address.h"
#include "argosy/base/clock.h"
#include "argosy/base/fd.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/base/thread.h"
#include "argosy/rpc/arrival_budget.h"
#include "argosy/rpc/listeners.h"
#include "argosy/rpc/rpc_limits.h"

namespace argosy::rpc {

// The listening sockets of a server, and who may be connected. A connection is at the threshold until it has shown the pass
// (door_pass.h): until then it is the door's, costs a socket and a kilobyte, and is closed where it says anything else or takes
// too long. Then it is handed on to gRPC; the door goes on to watch how many there are, that each opens a stream with the token
// soon, and not too many.
//
// Owns the listening sockets, the connections at the threshold and the thread "rpc-accept". Thread-safe.
class Door {
 public:
  // Gets a new connection, which is the callee's from then on. Called by the door's thread.
  using HandOn = std::function<void(int listener, int connection)>;

  // Binds and listens; an error names the address and the system's reason. Nobody is let in before start(). Without a token
  // everybody has the pass.
  static Result<std::unique_ptr<Door>> open(const Address& endpoint, const std::string& token, const RpcLimits& limits);
  ~Door() { stop(); }

  int port() const { return listeners_.port; }
  void start(HandOn hand_on);
  // Nobody is let in any more; those who are stay. Safe to call twice.
  void stop();

  // The caller at `peer` (as gRPC writes it: "ipv4:127.0.0.1:4711") opens a stream, with the job's token. False: it has more
  // open, or opens them faster, than any channel does; its connection is closed.
  bool let_in(std::string_view peer);
  void heard_from(std::string_view peer);    // a whole request has come: it is no stranger any more
  void stream_ended(std::string_view peer);  // one that was let in
  // It has shown that it does not belong to the job: it is dropped when it has had time to read why, or goes on.
  void turn_out(std::string_view peer);

  struct Counters {
    LimitCount connections, strangers;
    uint64_t wrong_passes = 0;
  };
  Counters counters() const;

 private:
  using Time = SteadyClock::time_point;

  // A connection at the threshold.
  struct Caller {
    Fd fd;
    int listener = -1;
    std::string peer;
    std::string said;
    Time drop_at = {};
  };
  // One that gRPC has.
  struct Visitor {
    int fd = -1;         // gRPC's; may be another file's by now
    uint64_t inode = 0;  // of the socket: whether it still is
    Fd held;             // the same socket: to shut it down by gRPC's number could hit another one
    Time came = {};
    Time drop_at = {};  // a stranger
    bool stranger = true;
    int streams = 0;      // open
    int refused = 0;      // streams of a stranger
    uint64_t opened = 0;      // streams so far
  };
  using Callers = std::list<Caller>;                // the oldest first
  using Visitors = std::map<std::string, Visitor>;  // by peer

  Door(const RpcLimits& limits, std::string pass, Listeners listeners, Fd wake);
  void run();
  // The next ones are the door's thread's.
  bool tend();  // what time brings; false once stopped
  bool accept_from(int listener);
  void hear(Callers::iterator caller);
  void admit(Callers::iterator caller);
  void send_away(Callers::iterator caller, std::string_view answer);

  bool make_room() ARGOSY_REQUIRES(mutex_);
  void sweep(Time now) ARGOSY_REQUIRES(mutex_);
  void drop_strangers(Time now) ARGOSY_REQUIRES(mutex_);
  void drop(Visitors::iterator visitor) ARGOSY_REQUIRES(mutex_);
  void forget(Visitors::iterator visitor) ARGOSY_REQUIRES(mutex_);
  Visitors::iterator find(std::string_view peer) ARGOSY_REQUIRES(mutex_);

  const RpcLimits limits_;
  const std::string pass_;
  Listeners listeners_;  // constant until stop()
  const Fd wake_;
  HandOn hand_on_;  // constant after start()

  // The door's thread's alone.
  Callers callers_;
  double accepts_left_;
  double patience_ = 0;  // seconds until something is to be tended
  Stopwatch since_accepts_;

  mutable Mutex mutex_;
  Visitors visitors_ ARGOSY_GUARDED_BY(mutex_);
  ArrivalBudget budget_ ARGOSY_GUARDED_BY(mutex_);
  size_t callers_count_ ARGOSY_GUARDED_BY(mutex_) = 0;      // of callers_
  size_t strangers_inside_ ARGOSY_GUARDED_BY(mutex_) = 0;  // of visitors_
  Stopwatch since_sweep_ ARGOSY_GUARDED_BY(mutex_), since_strangers_ ARGOSY_GUARDED_BY(mutex_);
  uint64_t refused_ ARGOSY_GUARDED_BY(mutex_) = 0, dropped_ ARGOSY_GUARDED_BY(mutex_) = 0,
                    wrong_passes_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace argosy::rpc
