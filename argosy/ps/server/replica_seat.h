#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "argosy/base/clock.h"
#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/ps/server/replica_record.h"
#include "argosy/ps/server/server_core.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/rpc/handler.h"
#include "argosy/rpc/rpc_server.h"

namespace argosy::ps {

// A process of a server with two of them (replicas=1), as its arbiter sees it: at first it waits to be told whether it is the
// primary or the follower; then the Core that was made for that goes on with what it is told. Answers the arbiter, and everybody
// else for as long as there is no Core.
//
// It has one arbiter: of its job and run, as far as both know them, and the first that has asked. Another one is refused by name
// while that one asks, and takes its place once that has been silent for a few seconds.
//
// Thread-safe. set_core() comes once, and the Core outlives the last handle().
class ReplicaSeat {
 public:
  // Reads what the server's directory says of the process before.
  static Result<std::unique_ptr<ReplicaSeat>> make(const ServerOptions& options);

  void handle(rpc::Request request, rpc::Reply reply);
  rpc::Lane lane_of(uint16_t method) const;

  // Until the arbiter says what this process is, by the deadline. Says from time to time that it waits. A process that was
  // started again waits for an arbiter that has asked how it is within the last minute: where none has, the job is over.
  Result<wire::TakeRoleRequest> wait_for_role(Deadline deadline);
  // Whether the arbiter has said that the job has ended: by wait_for_role(), or while this process got ready.
  bool has_ended() const;
  void set_core(Core& core) { core_ = &core; }

 private:
  ReplicaSeat(const ServerOptions& options, ReplicaRecord kept);
  Result<std::string> answer(const rpc::Request& request);
  Result<std::string> answer_status(const rpc::Request& request);
  // Whether a message may be answered, by what it says of its sender: `who` is for messages.
  Status check_run(const wire::Caller& caller, const std::string& who) const;
  Status admit(const wire::Caller& caller, const wire::ArbiterId& arbiter, const std::string& peer);
  Status admit_arbiter(const wire::ArbiterId& arbiter, const std::string& who);
  Result<std::string> take_role(const wire::TakeRoleRequest& role);
  Status note_role(const wire::TakeRoleRequest& role);
  wire::ReplicaStatus status();

  const ReplicaRecord kept_;
  const std::string name_, job_, run_;  // job and run: as this process was started
  const uint64_t boot_;
  std::atomic<Core*> core_ = nullptr;
  std::atomic<bool> is_telling_ = false;  // somebody tells the core what it is
  mutable Mutex mutex_;
  ConditionVariable told_;
  wire::ArbiterId arbiter_ ARGOSY_GUARDED_BY(mutex_);  // number 0: none has asked yet
  std::deque<uint64_t> refused_ ARGOSY_GUARDED_BY(mutex_);  // the last arbiters whose refusal is in the log
  Stopwatch asked_ ARGOSY_GUARDED_BY(mutex_);          // since the arbiter asked last
  std::optional<wire::TakeRoleRequest> role_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::ps
