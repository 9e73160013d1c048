#include "argosy/ps/server/standby.h"

#include <vector>

#include "argosy/base/notice.h"
#include "argosy/ps/server/replica_record.h"
#include "argosy/ps/server/replication.h"

namespace argosy::ps {
namespace {

constexpr double kEnterSeconds = 60;  // while a snapshot of this process is being begun
constexpr double kCutSeconds = 1800;  // for a snapshot of any size
constexpr double kLeaseMargin = 1.1;  // clocks of two machines do not run quite alike

}  // namespace

void Standby::ask(wire::FollowRequest& request) const {
  request.set_replica(process_);
  request.set_epoch(epoch_);
  request.set_heard(number_);
}

Status Standby::heard(const wire::FollowReply& reply) {
  if (epoch_ == 0) epoch_ = reply.epoch();
  if (reply.epoch() != epoch_) {
    return Status::failed_precondition(
        "{} followed the primary of epoch {}, and it is of epoch {} now; started again, it begins anew", name_, epoch_.load(),
        reply.epoch());
  }
  number_ = reply.number();
  {
    const MutexLock lock(mutex_);
    heard_.restart();
  }
  const bool has_tables = state_ && !state_->importing();
  if (whole_ || !reply.whole() || !has_tables) return {};
  RETURN_IF_ERROR(write_replica_record(options_.directory, {.epoch = epoch_, .whole = true, .launch = options_.launch}));
  whole_ = true;
  notice("{} has everything that its primary at {} has acknowledged, in epoch {}, and takes over where that is lost", name_,
         options_.follow, epoch_.load());
  return {};
}

// What is kept and not applied yet is a change under way: a snapshot of this process waits for it.
Status Standby::keep(std::span<const LogStream::One> records) {
  RETURN_IF_ERROR(changes_.enter(Deadline::after_seconds(kEnterSeconds)));
  std::vector<argosy::Bytes> bytes;
  bytes.reserve(records.size());
  for (const LogStream::One& one : records) bytes.push_back(one.bytes);
  const Status status = records.empty() ? Status() : changes_.journal()->log().append_all(bytes).status();
  if (status.ok()) return {};
  changes_.leave();
  return Status::internal("the follower's log takes nothing more: {}",
                          status.message());  // whatever it is: a gap must not follow
}

void Standby::applied(size_t records) {
  changes_.counts().changes += records;
  changes_.leave();
}

Status Standby::begin_replacing() { return changes_.enter(Deadline::after_seconds(kEnterSeconds)); }

Status Standby::replaced(Status status) {
  ++changes_.counts().changes;
  changes_.leave();
  RETURN_IF_ERROR(status);
  return snapshotter_.cut_now(Deadline::after_seconds(kCutSeconds));
}

void Standby::fill(wire::ReplicaStatus& status) const {
  status.set_epoch(epoch_);
  status.set_whole(whole_);
  const MutexLock lock(mutex_);
  status.set_silent_seconds(heard_.seconds());
}

double Standby::safe_in_seconds() const {
  const MutexLock lock(mutex_);
  return kReplicaLeaseSeconds * kLeaseMargin - heard_.seconds();
}

}  // namespace argosy::ps
