#include "argosy/ps/server/replica_seat.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "argosy/base/identity.h"
#include "argosy/base/log.h"

namespace argosy::ps {
namespace {

constexpr double kRoleLineSeconds = 10;  // between two lines of the log about a role that nobody gives

// What lies in the directory counts where this process goes on with it.
ReplicaRecord what_counts(const ServerOptions& options, const std::optional<ReplicaRecord>& found) {
  if (!found) return {};
  const bool same_launch = options.launch.empty() || options.launch == found->launch;
  return same_launch || options.on_old_state == OnOldState::resume ? *found : ReplicaRecord();
}

}  // namespace

Result<std::unique_ptr<ReplicaSeat>> ReplicaSeat::make(const ServerOptions& options) {
  ASSIGN_OR_RETURN(const auto found, read_replica_record(options.directory));
  return std::unique_ptr<ReplicaSeat>(new ReplicaSeat(options, what_counts(options, found)));
}

ReplicaSeat::ReplicaSeat(const ServerOptions& options, ReplicaRecord kept)
    : kept_(std::move(kept)),
      name_(fmt::format("server {} ({}, pid {})", options.server, options.address, ::getpid())),
      boot_(draw_identity()) {}

rpc::Lane ReplicaSeat::lane_of(uint16_t method) const {
  if (method == wire::REPLICA_STATUS) return rpc::Lane::urgent;
  if (method == wire::TAKE_ROLE) return rpc::Lane::read;
  Core* const core = core_;
  return core == nullptr ? rpc::Lane::change : core->lane_of(method);
}

void ReplicaSeat::handle(rpc::Request request, rpc::Reply reply) {
  if (request.method == wire::REPLICA_STATUS || request.method == wire::TAKE_ROLE) {
    auto said = answer(request);
    return said.ok() ? reply.send(std::move(*said)) : reply.fail(said.status());
  }
  if (Core* const core = core_) return core->handle(std::move(request), std::move(reply));
  reply.fail(Status::unavailable("{} waits for its role, or is getting ready for it; try again", name_));
}

Result<std::string> ReplicaSeat::answer(const rpc::Request& request) {
  if (request.method == wire::REPLICA_STATUS) return status().SerializeAsString();
  wire::TakeRoleRequest role;
  if (!role.ParseFromString(request.header) || role.epoch() == 0 || role.role() == wire::ReplicaStatus::WAITING)
    return Status::invalid_argument("{}: a role has to be primary or follower, of an epoch above 0", name_);
  return take_role(role);
}

Result<std::string> ReplicaSeat::take_role(const wire::TakeRoleRequest& role) {
  const MutexLock turn(turn_);  // it waits for the disk, and for the lease of another process
  if (Core* const core = core_) {
    RETURN_IF_ERROR(core->take_role(role));
  } else {
    RETURN_IF_ERROR(note_role(role));
  }
  return status().SerializeAsString();
}

// While it gets ready it cannot become something else.
Status ReplicaSeat::note_role(const wire::TakeRoleRequest& role) {
  {
    const MutexLock lock(mutex_);
    const bool follows = role.role() == wire::ReplicaStatus::FOLLOWER;  // of whatever epoch its primary says
    const bool same =
        role_ && role_->role() == role.role() && (role_->epoch() == role.epoch() || (follows && role_->peer() == role.peer()));
    if (role_ && !same) return Status::unavailable("{} is getting ready for epoch {}; try again", name_, role_->epoch());
    role_ = role;
  }
  told_.notify_all();
  return {};
}

wire::ReplicaStatus ReplicaSeat::status() {
  wire::ReplicaStatus status;
  if (Core* const core = core_) {
    core->fill(status);
    return status;
  }
  status.set_name(name_);
  status.set_boot(boot_);
  const MutexLock lock(mutex_);
  status.set_role(role_ ? role_->role() : wire::ReplicaStatus::WAITING);
  status.set_epoch(role_ ? role_->epoch() : kept_.epoch);
  if (role_ || kept_.epoch == 0) return status;
  status.set_kept(kept_.primary ? wire::ReplicaStatus::PRIMARY : wire::ReplicaStatus::FOLLOWER);
  status.set_whole(kept_.whole);
  return status;
}

Result<wire::TakeRoleRequest> ReplicaSeat::wait_for_role(Deadline deadline) {
  const auto is_told = [this]() ARGOSY_REQUIRES(mutex_) { return role_.has_value(); };
  MutexLock lock(mutex_);
  while (!told_.wait_until(lock, std::min(deadline.when(), Deadline::after_seconds(kRoleLineSeconds).when()), is_told)) {
    if (deadline.passed()) {
      return Status::deadline_exceeded(
          "nobody has told {} whether it is the primary or the follower (replicas=1). The launcher of worker 0 does, or `argosy "
          "arbiter`: "
          "is it running, and has it this address and token?",
          name_);
    }
    log_warning("{} waits to be told whether it is the primary or the follower", name_);
  }
  return *role_;
}

}  // namespace argosy::ps
