#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/follower.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/server/snapshotter.h"
#include "argosy/ps/server/state_holder.h"

namespace argosy::ps {

// The follower's side of a server with two processes (replicas=1): keeps every record in its own log before it says that it has
// it, so that this process, or one that recovers its directory, can go on as the primary. Its snapshots are its own as well.
//
// Used by the thread "ps-follow"; fill_status() and safe_in_seconds() by any.
class Standby final : public ReplicaLog {
 public:
  // What it is given; all of it outlives this.
  struct Uses {
    const ServerOptions& options;
    StateHolder& state;
    Changes& changes;
    Snapshotter& snapshotter;
  };
  // `process`: which process this is, to the primary. `name`: of the server.
  Standby(const Uses& uses, std::string name, uint64_t process)
      : options_(uses.options),
        state_(uses.state),
        changes_(uses.changes),
        snapshotter_(uses.snapshotter),
        name_(std::move(name)),
        process_(process) {}

  void ask(wire::FollowRequest& request) const override;
  Status heard(const wire::FollowReply& reply) override;
  Status keep(std::span<const LogStream::One> records) override;
  void applied(size_t records) override;
  Status begin_replacing() override;
  Status replaced(Status status) override;

  uint64_t epoch() const { return epoch_; }
  bool is_whole() const { return whole_; }
  void fill(wire::ReplicaStatus& status) const;
  // Seconds until the primary, if its process is alive, answers nothing alone any more.
  double safe_in_seconds() const;

 private:
  const ServerOptions& options_;
  StateHolder& state_;
  Changes& changes_;
  Snapshotter& snapshotter_;
  const std::string name_;
  const uint64_t process_;
  std::atomic<uint64_t> epoch_ = 0;  // of the primary; 0: not heard yet
  std::atomic<bool> whole_ = false;
  uint64_t number_ = 0;  // of the last answer
  mutable Mutex mutex_;
  Stopwatch heard_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::ps
