#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/rpc/channel.h"

namespace argosy::ps {

class PairChannel;
namespace wire {
class Caller;
}

// A message for one server.
struct ServerCall {
  int server = 0;
  rpc::Message message;
};

struct ServersOptions {
  double server_wait_seconds = 600;
  double call_seconds = 30;
};

// The channels to all servers of a job, two to each (calls; signs of life, which must not wait behind a large message), and the
// patience with them: a call whose server is away or answers nothing in
// time is repeated, with the same bytes, until the server has been away for server_wait_seconds.
//
// Thread-safe.
class Servers {
 public:
  using OnAnswer = std::function<Status(int server, const rpc::Received& answer)>;

  using Channels = std::vector<std::unique_ptr<rpc::Channel>>;
  Servers(Channels channels, Channels heartbeats, const ServersOptions& options);

  int size() const { return static_cast<int>(channels_.size()); }
  // "server 1 (10.0.0.2:6170)", for messages.
  std::string name(int server) const;
  rpc::Channel& channel(int server) { return *channels_[static_cast<size_t>(server)]; }
  rpc::Channel& heartbeats(int server) { return *heartbeats_[static_cast<size_t>(server)]; }

  // Sends all, waits for all, and returns the answers in the order of the calls; or the first final error. With
  // `held_until`, servers may hold their answers until then: one that says `deadline_exceeded` before is asked again.
  // `answered` is called with each answer as it comes, in the caller's thread; its error ends the call.
  Result<std::vector<rpc::Received>> call(std::vector<ServerCall> calls, std::optional<Deadline> held_until = {},
                                          const OnAnswer& answered = {});
  Result<rpc::Received> call(int server, rpc::Message message, std::optional<Deadline> held_until = {});

  // What is done when a process of a server says `unauthenticated`: it was started again, and has to be compared with first. Then
  // the call is repeated, or fails with the error. Called by the threads that call. Before the first call.
  using Compare = std::function<Status(int server)>;
  void set_compare(Compare compare) { compare_ = std::move(compare); }
  // As call(), for the messages of such a comparison.
  Result<std::vector<rpc::Received>> call_to_compare(std::vector<ServerCall> calls, Deadline held_until);

  // ---- Servers with two processes (replicas=1); nothing for others.
  // The process that is spoken to is the primary of this caller's epoch.
  void met(int server, const wire::Caller& who);
  // To be called a few times per second: finds out about primaries that answer nothing any more.
  void look();

  // Every call that is under way or comes fails with `why`, until go_on().
  void end(Status why);
  void go_on();

  struct Counters {
    std::atomic<uint64_t> calls{0}, retries{0}, bytes_sent{0}, bytes_received{0};
  };
  const Counters& counters() const { return counters_; }

 private:
  friend class CallRun;

  Status why_ended();
  // Whether a line about servers that are away is due: one every few seconds for all waiting calls.
  bool line_due();

  const Channels channels_, heartbeats_;
  std::vector<std::vector<PairChannel*>> pairs_;  // by server; constant
  const ServersOptions options_;
  Compare compare_;  // constant after the first call
  Counters counters_;
  std::atomic<int64_t> last_line_{0};  // SteadyClock's nanoseconds
  std::atomic<bool> ended_{false};
  Mutex end_mutex_;
  Status end_ ARGOSY_GUARDED_BY(end_mutex_);
};

}  // namespace argosy::ps
