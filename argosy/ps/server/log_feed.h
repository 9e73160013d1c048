#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/replication.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/ps/server/server_options.h"

namespace argosy::ps {

// Gives the server's log to those who follow it, record by record from a position on, as the disk has it (messages.proto:
// Follow). A server that nobody follows does nothing for it: a change only looks at one flag.
//
// What is in the log is all that ever changes the state, but for what a load of a snapshot has put into the tables: a follower
// that lacks the last load is sent to the snapshot that was cut for it.
//
// Owns: who follows, and how far each is. Thread-safe: the lock is not held while the log is read.
class LogFeed {
 public:
  // What it is given; all of it outlives this.
  struct Uses {
    const ServerOptions& options;
    Changes& changes;
    Parking& parking;
    Limit& followers;
    const Limit& answer;
    Replication* replication;  // null: the server is one process
  };
  // `name`: of the server.
  LogFeed(const Uses& uses, std::string name);

  void follow(const CallPtr& call, State& state, const wire::FollowRequest& request);

  // Returns when every follower that was heard of lately has been told all that the log has, or at the deadline, and says in the
  // log who has not. For a server that ends: nobody will tell them later.
  void drain(Deadline deadline);
  // The other process of this server is left out: it is not one of those who follow any more, however lately it was heard of.
  void drop_replica();
  // Those that were heard of lately.
  uint32_t followers() const;
  // Answers the follower of a server with two processes where there was no record for a while. To be called from time to time.
  void answer_idle(State& state);

 private:
  struct FollowerPosition {
    std::string peer;   // where it calls from
    uint64_t replica = 0;  // it is the other process of this server; 0: it only reads
    uint64_t told = 0;  // the log's end when there was nothing more for it
    uint64_t from = 0;  // where it asked for records last
    bool to_snapshot = false;  // it was sent to a snapshot, and has not been given records since
    SteadyClock::time_point heard;
  };
  using Known = std::map<uint64_t, FollowerPosition>;

  Status note(const wire::FollowRequest& request, const std::string& peer);
  void note_snapshot(uint64_t number, bool sent, uint64_t first);
  void note_told(uint64_t number, uint64_t end);
  Status check_from(const table::RecordLog& log, const wire::FollowRequest& request) const;
  bool needs_snapshot(const table::RecordLog& log, const State& state, const wire::FollowRequest& request) const;
  // The records of one answer, and whether they are all.
  static Status read(const table::RecordLog& log, const State& state, const wire::FollowRequest& request, uint64_t max_bytes,
                     wire::FollowReply& reply, std::vector<std::byte>& payload);
  Status hear_replica(const wire::FollowRequest& request);
  Status check_log(const wire::FollowRequest& request) const;
  static bool is_live(const FollowerPosition& follower);

  const ServerOptions& options_;
  Changes& changes_;
  Parking& parking_;
  Limit& limit_;
  const Limit& answer_;
  Replication* const replication_;
  const std::string name_;
  const uint64_t process_;  // whose log it is, where a server has two
  mutable Mutex mutex_;
  ConditionVariable told_;
  Known known_ ARGOSY_GUARDED_BY(mutex_);  // by the observer's number
};

}  // namespace argosy::ps
