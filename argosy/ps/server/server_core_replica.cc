// One of the two processes of a server: which methods the one that stands by answers, and how it becomes the primary.
#include "argosy/base/file.h"
#include "argosy/base/notice.h"
#include "argosy/base/plant.h"
#include "argosy/ps/server/replica_record.h"
#include "argosy/ps/server/server_core.h"

namespace argosy::ps {
// Answers that rest on nothing, or are the follower's own.
bool Core::is_kept_back(wire::Method method) const {
  switch (method) {
    case wire::HEARTBEAT:
    case wire::FOLLOW:
    case wire::COPY_SNAPSHOT:
    case wire::STATS:
    case wire::VERSIONS: return false;
    default: return true;
  }
}

void Core::add_standby_methods() {
  using enum rpc::Lane;
  const Status passes = Status::unavailable("{} stands by; its primary is at {}", name_, options_.follow);
  standby_methods_.add_open<wire::HelloRequest>(
      wire::HELLO, read, [this, passes](const CallPtr& call, wire::HelloRequest& request) {
        request.observer() && state_ ? workers_.hello(call, request) : call->fail(passes);
      });
  standby_methods_.add<wire::StatsRequest>(wire::STATS, read, Allow::observers, by(stats_, &StatsHandler::stats));
  standby_methods_.refuse_others(passes);
}

Status Core::begin_standby() {
  {
    ASSIGN_OR_RETURN(const Fd lock, lock_server_folder(options_.directory));
    RETURN_IF_ERROR(leave_behind(options_.directory));
    RETURN_IF_ERROR(make_folder(options_.directory));
  }
  ASSIGN_OR_RETURN(auto opened, ServerFolder::open(options_));
  notes_.set_folder(std::move(opened));
  changes_.set_before_training([this] { return notes_.folder()->mark_trained(); });
  RETURN_IF_ERROR(notes_.folder()->mark_trained());  // what its primary has trained is here soon
  const bool sync = options_.settled_durability() == Durability::wal_sync;
  ASSIGN_OR_RETURN(auto journal, Journal::open(options_.directory / "log", {.sync = sync,
                                                                            .sync_seconds = sync ? 0 : options_.log_sync_seconds,
                                                                            .max_bytes = options_.log_limit_bytes}));
  changes_.set_journal(std::move(journal));
  return notes_.begin(false);
}

void Core::fill(wire::ReplicaStatus& status) const {
  status.set_role(stands_by_ ? wire::ReplicaStatus::FOLLOWER : wire::ReplicaStatus::PRIMARY);
  if (stands_by_) {
    standby_->fill(status);
  } else {
    replication_->fill(status);
  }
  status.set_version(state_ ? state_->version() : 0);
  status.set_boot(boot_);
  status.set_name(name_);
}

Status Core::take_role(const wire::TakeRoleRequest& role) {
  const bool primary = role.role() == wire::ReplicaStatus::PRIMARY;
  if (stands_by_) {
    if (primary) return promote(role);
    if (role.epoch() <= standby_->epoch() || standby_->epoch() == 0) return {};
    return ending_.fatal(Status::failed_precondition(
        "{} is left out: epoch {} has begun without it, and it has followed in epoch {}. Started again, it begins anew", name_,
        role.epoch(), standby_->epoch()));
  }
  if (!primary) return role.epoch() <= replication_->epoch() ? Status() : replication_->fence(role.epoch());
  if (role.epoch() < replication_->epoch())
    return Status::failed_precondition("{} is the primary of epoch {} already; {} is over", name_, replication_->epoch(),
                                       role.epoch());
  if (role.epoch() == replication_->epoch()) return {};
  changes_.hurry_log();
  RETURN_IF_ERROR(replication_->lead(role.epoch()));
  feed_.drop_replica();
  return {};
}

// As the start of a process that has recovered its directory: workers compare what it has with what was acknowledged to them.
Status Core::promote(const wire::TakeRoleRequest& role) {
  const bool whole = standby_->is_whole() || ARGOSY_PLANTED("part_takes_over");
  if (!whole || role.epoch() <= standby_->epoch()) {
    return Status::failed_precondition("{} cannot become the primary of epoch {}: it follows in epoch {} and {}", name_,
                                       role.epoch(), standby_->epoch(), standby_->is_whole() ? "is whole" : "has not caught up");
  }
  const Stopwatch since;
  follower_->stop();
  if (!ending_.is_healthy()) return Status::failed_precondition("{} cannot go on by itself", name_);
  if (role.may_run() && ending_.wait_for_stop(Deadline::after_seconds(standby_->safe_in_seconds())))
    return Status::unavailable("{} is stopping", name_);
  RETURN_IF_ERROR(replication_->lead(role.epoch()));
  changes_.hurry_log();
  state_->members().touch_all();
  changes_.steps_may_be_due();
  stands_by_ = false;
  notice(LogLevel::warning, "{} has taken over from the process at {}, {:.3f} s after it was told, with all {} records", name_,
         options_.follow, since.seconds(), state_->version());
  workers_.end_if_done(*state_);
  return {};
}

}  // namespace argosy::ps
