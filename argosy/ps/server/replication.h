#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/observe/metrics.h"
#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/ending.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/ps/server/server_options.h"

namespace argosy::ps {

// For so long after an answer to its follower a primary may answer alone, if the follower has said since that it has that answer.
// A follower does not become the primary earlier than that, counted from the last answer that it got, unless it is known that the
// primary's process is dead. So never two processes answer, however long one of them was stopped.
inline constexpr double kReplicaLeaseSeconds = 1;

// A primary's side of a server with two processes (replicas=1): keeps back every answer until the follower has in its log all
// that the answer may rest on, and for as long as the lease has run out. Who follows, and whether it has all, goes by phases:
//
//   alone         nobody follows; nothing is kept back
//   catching_up   somebody follows; nothing is kept back
//   closing       it is near: from here on answers are kept back, and when it has the log's end of this moment
//   whole         it is told that it may become the primary: it has all that was ever acknowledged
//
// Only the arbiter ends `whole`, by an epoch that the follower is not of.
//
// Thread-safe. No lock is held while an answer is sent.
class Replication final : public AnswerGuard {
 public:
  // `name`: of the server. `held`: of answers that are kept back.
  Replication(const ServerOptions& options, std::string name, Changes& changes, Ending& ending, Limit& held);

  // ---- From the arbiter, one call at a time. The record is on the disk when they return.
  // This process is the primary from now on, alone. An error: the record could not be written, and nothing has changed.
  Status lead(uint64_t epoch);
  uint64_t epoch() const { return epoch_; }  // 0: it is no primary yet
  // Whether a message of somebody who has met `epoch` may be heard. A larger one than this process's: another process has become
  // the primary, and this one ends.
  Status check_epoch(uint64_t epoch);
  // It ends, because another process is the primary.
  Status fence(uint64_t epoch);
  void fill(wire::ReplicaStatus& status) const;

  // ---- From the follower, by LogFeed.
  // Whether this follower is heard.
  Status admit(const wire::FollowRequest& request);
  // It has everything before `position`, and the loads that this process has.
  void kept(const wire::FollowRequest& request, uint64_t position);
  // An answer goes to it now.
  void stamp(wire::FollowReply& reply);

  void pass(rpc::Reply reply, Status status, Outgoing answer) override;
  // Answers what is kept back with `unavailable`. Safe to call twice.
  void stop();

 private:
  enum class Phase { alone, catching_up, closing, whole };
  struct Held {
    rpc::Reply reply;
    Status status;
    Outgoing answer;
    uint64_t bytes = 0;
  };
  using HeldByEnd = std::multimap<uint64_t, Held>;  // by the log's end as they were ready

  static void finish(Held held);
  static void finish_all(std::vector<Held> ready);
  bool has_lease() const ARGOSY_REQUIRES(mutex_);
  std::vector<Held> take_ready() ARGOSY_REQUIRES(mutex_);
  std::vector<Held> take_all() ARGOSY_REQUIRES(mutex_);
  void keep_lease(uint64_t heard) ARGOSY_REQUIRES(mutex_);
  bool advance() ARGOSY_REQUIRES(mutex_);  // whether it became whole
  uint64_t log_end() const;
  void read_metrics(observe::Readings& readings) const;

  const ServerOptions& options_;
  const std::string name_;
  Changes& changes_;
  Ending& ending_;
  Limit& limit_;  // set_now() with the lock
  std::atomic<uint64_t> epoch_ = 0;
  std::atomic<bool> holds_ = false;  // closing or whole

  mutable Mutex mutex_;
  Phase phase_ ARGOSY_GUARDED_BY(mutex_) = Phase::alone;
  uint64_t follower_ ARGOSY_GUARDED_BY(mutex_) = 0;  // which process; 0: none
  uint64_t position_ ARGOSY_GUARDED_BY(mutex_) = 0;  // it has everything before
  uint64_t whole_at_ ARGOSY_GUARDED_BY(mutex_) = 0;  // closing: the end that it has to reach
  uint64_t number_ ARGOSY_GUARDED_BY(mutex_) = 0;  // of the last answer to it
  std::map<uint64_t, SteadyClock::time_point> sent_ ARGOSY_GUARDED_BY(mutex_);  // answers that it has not said to have
  SteadyClock::time_point lease_end_ ARGOSY_GUARDED_BY(mutex_);
  Stopwatch heard_ ARGOSY_GUARDED_BY(mutex_);
  HeldByEnd held_ ARGOSY_GUARDED_BY(mutex_);
  bool stopped_ ARGOSY_GUARDED_BY(mutex_) = false;
  observe::Registry::Collection metrics_;
};

}  // namespace argosy::ps
