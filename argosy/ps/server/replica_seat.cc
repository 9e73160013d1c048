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
constexpr double kArbiterGoneSeconds = 60;  // it asks several times per second
constexpr size_t kRefusedArbiters = 16;  // of which the log has one line each: they ask several times per second, too
constexpr double kArbiterAwaySeconds = 3;   // of silence, until another one may take its place

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
      job_(options.job),
      run_(options.run),
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
  if (request.method == wire::REPLICA_STATUS) return answer_status(request);
  wire::TakeRoleRequest role;
  if (!role.ParseFromString(request.header) || role.epoch() == 0 || role.role() == wire::ReplicaStatus::WAITING)
    return Status::invalid_argument("{}: a role has to be primary or follower, of an epoch above 0", name_);
  RETURN_IF_ERROR(admit(role.caller(), role.arbiter(), request.peer));
  return take_role(role);
}

Result<std::string> ReplicaSeat::answer_status(const rpc::Request& request) {
  wire::ReplicaStatusRequest asked;
  if (!asked.ParseFromString(request.header))
    return Status::invalid_argument("{}: the header of a ReplicaStatusRequest from {} cannot be read", name_, request.peer);
  if (asked.has_arbiter()) {
    RETURN_IF_ERROR(admit(asked.caller(), asked.arbiter(), request.peer));
  } else {
    RETURN_IF_ERROR(check_run(asked.caller(), fmt::format("worker {} ({})", asked.caller().worker(), request.peer)));
  }
  return status().SerializeAsString();
}

// Before anything is changed. What nobody has told this process, or the sender, cannot differ.
Status ReplicaSeat::check_run(const wire::Caller& caller, const std::string& who) const {
  const Core* const core = core_;
  const std::string job = core == nullptr ? job_ : core->job();
  const std::string run = core == nullptr ? run_ : core->run();
  if (!job.empty() && !caller.job().empty() && job != caller.job()) {
    return Status::failed_precondition("{} serves job '{}'; {} belongs to job '{}': has it the addresses of its own job?", name_,
                                       job, who, caller.job());
  }
  const bool differs = !run.empty() && run != caller.run() && !(caller.run().empty() && run_.empty());
  if (!differs) return {};
  return Status::failed_precondition(
      "{} belongs to run {}, {} to {}. Either an earlier run left one of them behind, or they are of two jobs: end the one that "
      "is "
      "not of yours, or choose another port. Started by hand, both get the run by ARGOSY_RUN_ID",
      name_, run, who, caller.run().empty() ? "none" : "run " + caller.run());
}

Status ReplicaSeat::admit(const wire::Caller& caller, const wire::ArbiterId& arbiter, const std::string& peer) {
  if (arbiter.number() == 0) {
    return Status::invalid_argument("{}: {} does not say which arbiter it is; a role comes from the job's arbiter only", name_,
                                    peer);
  }
  const std::string who = fmt::format("the arbiter {} ({})", arbiter.name(), peer);
  Status status = check_run(caller, who);
  if (status.ok()) status = admit_arbiter(arbiter, who);
  bool is_new = false;
  {
    const MutexLock lock(mutex_);
    is_new = !status.ok() && std::ranges::find(refused_, arbiter.number()) == refused_.end();
    if (is_new) refused_.push_back(arbiter.number());
    if (refused_.size() > kRefusedArbiters) refused_.pop_front();
  }
  if (is_new) log_warning("an arbiter is refused: {}", status.message());
  return status;
}

Status ReplicaSeat::admit_arbiter(const wire::ArbiterId& arbiter, const std::string& who) {
  const MutexLock lock(mutex_);
  const bool another = arbiter_.number() != 0 && arbiter_.number() != arbiter.number();
  if (another && asked_.seconds() < kArbiterAwaySeconds) {
    return Status::failed_precondition(
        "{} has an arbiter: {}, which asked {:.1f} s ago. {} is a second one, and a job has one: end either", name_,
        arbiter_.name(), asked_.seconds(), who);
  }
  arbiter_ = arbiter;
  asked_.restart();
  return {};
}

// The core waits for the disk, and for the lease of another process. Meanwhile it is told nothing else.
Result<std::string> ReplicaSeat::take_role(const wire::TakeRoleRequest& role) {
  if (is_telling_.exchange(true)) return Status::unavailable("{} is becoming what it was told; try again", name_);
  Status taken;
  if (Core* const core = core_) {
    const bool ended = role.role() == wire::ReplicaStatus::ENDED;  // it ends by itself, as those of the job do
    if (!ended) taken = core->take_role(role);
  } else {
    taken = note_role(role);
  }
  is_telling_ = false;
  RETURN_IF_ERROR(taken);
  return status().SerializeAsString();
}

// While it gets ready it cannot become something else.
Status ReplicaSeat::note_role(const wire::TakeRoleRequest& role) {
  {
    const MutexLock lock(mutex_);
    const bool follows = role.role() == wire::ReplicaStatus::FOLLOWER;  // of whatever epoch its primary says
    const bool same =
        role_ && role_->role() == role.role() && (role_->epoch() == role.epoch() || (follows && role_->peer() == role.peer()));
    const bool ends = role.role() == wire::ReplicaStatus::ENDED && (!role_ || role_->role() == wire::ReplicaStatus::FOLLOWER);
    if (role_ && !same && !ends) return Status::unavailable("{} is getting ready for epoch {}; try again", name_, role_->epoch());
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
  status.set_getting_ready(role_.has_value());
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
    if (kept_.epoch != 0 && asked_.seconds() > kArbiterGoneSeconds) {
      return Status::unavailable(
          "nobody has asked for {:.0f} s how {} is, which waits to be told whether it is the primary or the follower "
          "(replicas=1): the launcher of worker 0, or `argosy arbiter`, has ended, and the job with it; or it cannot reach this "
          "address",
          asked_.seconds(), name_);
    }
    log_warning("{} waits to be told whether it is the primary or the follower", name_);
  }
  return *role_;
}

bool ReplicaSeat::has_ended() const {
  const MutexLock lock(mutex_);
  return role_ && role_->role() == wire::ReplicaStatus::ENDED;
}

}  // namespace argosy::ps
