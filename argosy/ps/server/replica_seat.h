#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

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
// Thread-safe. set_core() comes once, and the Core outlives the last handle().
class ReplicaSeat {
 public:
  // Reads what the server's directory says of the process before.
  static Result<std::unique_ptr<ReplicaSeat>> make(const ServerOptions& options);

  void handle(rpc::Request request, rpc::Reply reply);
  rpc::Lane lane_of(uint16_t method) const;

  // Until the arbiter says what this process is, by the deadline. Says from time to time that it waits.
  Result<wire::TakeRoleRequest> wait_for_role(Deadline deadline);
  void set_core(Core& core) { core_ = &core; }

 private:
  ReplicaSeat(const ServerOptions& options, ReplicaRecord kept);
  Result<std::string> answer(const rpc::Request& request);
  Result<std::string> take_role(const wire::TakeRoleRequest& role);
  Status note_role(const wire::TakeRoleRequest& role);
  wire::ReplicaStatus status();

  const ReplicaRecord kept_;
  const std::string name_;
  const uint64_t boot_;
  std::atomic<Core*> core_ = nullptr;
  Mutex turn_;  // of those who tell the core
  Mutex mutex_;
  ConditionVariable told_;
  std::optional<wire::TakeRoleRequest> role_ ARGOSY_GUARDED_BY(mutex_);
};

}  // namespace argosy::ps
