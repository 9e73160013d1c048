#include "argosy/ps/client/pair_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

#include "argosy/base/mutex.h"

namespace argosy::ps {
namespace {

constexpr double kLongWaitSeconds = 0.3;  // for an answer, before the other process is asked
constexpr double kOtherAnswerSeconds = 1;

}  // namespace

struct PairChannel::Shared {
  struct Pending {
    uint64_t number = 0;
    size_t to = 0;
    rpc::Callback done;
    Stopwatch since;
  };

  Mutex mutex;
  size_t current ARGOSY_GUARDED_BY(mutex) = 0;
  uint64_t epoch ARGOSY_GUARDED_BY(mutex) = 0;  // of the one that is spoken to, as far as is known
  wire::Caller who ARGOSY_GUARDED_BY(mutex);
  bool asked ARGOSY_GUARDED_BY(mutex) = false;
  uint64_t calls ARGOSY_GUARDED_BY(mutex) = 0;
  std::list<Pending> pending ARGOSY_GUARDED_BY(mutex);

  // The callback, once.
  rpc::Callback take(uint64_t number) {
    const MutexLock lock(mutex);
    const auto found = std::ranges::find(pending, number, &Pending::number);
    if (found == pending.end()) return {};
    rpc::Callback done = std::move(found->done);
    pending.erase(found);
    return done;
  }
  void move_from(size_t which) {
    const MutexLock lock(mutex);
    if (current == which) current = 1 - which;
  }
  // The calls to the process that is left.
  std::vector<rpc::Callback> move_to(size_t which, uint64_t to_epoch) {
    const MutexLock lock(mutex);
    std::vector<rpc::Callback> left;
    if (to_epoch <= epoch) return left;
    epoch = to_epoch;
    current = which;
    for (auto one = pending.begin(); one != pending.end();) {
      if (one->to == which) {
        ++one;
        continue;
      }
      left.push_back(std::move(one->done));
      one = pending.erase(one);
    }
    return left;
  }
};

PairChannel::PairChannel(std::unique_ptr<rpc::Channel> server, std::unique_ptr<rpc::Channel> follower, wire::Caller who)
    : peer_(fmt::format("{} or {}", server->peer(), follower->peer())),
      shared_(std::make_shared<Shared>()),
      server_(std::move(server)),
      follower_(std::move(follower)) {
  const MutexLock lock(shared_->mutex);
  shared_->who = std::move(who);
}

PairChannel::~PairChannel() = default;

void PairChannel::call(rpc::Message message, Deadline deadline, rpc::Callback done) {
  uint64_t number = 0;
  size_t to = 0;
  {
    const MutexLock lock(shared_->mutex);
    number = ++shared_->calls;
    to = shared_->current;
    shared_->pending.push_back({.number = number, .to = to, .done = std::move(done), .since = {}});
  }
  way(to).call(std::move(message), deadline, [shared = shared_, number, to, deadline](Result<rpc::Received> answer) {
    rpc::Callback taken = shared->take(number);
    if (!taken) return;  // it was told already
    const bool silent = answer.status().code() == Code::deadline_exceeded && deadline.passed();
    if (silent || answer.status().code() == Code::unavailable) shared->move_from(to);
    taken(std::move(answer));
  });
}

Status PairChannel::wait_ready(Deadline deadline) {
  size_t to = 0;
  {
    const MutexLock lock(shared_->mutex);
    to = shared_->current;
  }
  const Deadline half = Deadline::after_seconds(std::max(deadline.seconds_left() / 2, 0.0));
  return way(to).wait_ready(half).ok() ? Status() : way(1 - to).wait_ready(deadline);
}

void PairChannel::met(const wire::Caller& who) {
  const MutexLock lock(shared_->mutex);
  shared_->epoch = std::max(shared_->epoch, who.epoch());
  shared_->who = who;
}

void PairChannel::look() {
  size_t other = 0;
  wire::ReplicaStatusRequest request;
  {
    const MutexLock lock(shared_->mutex);
    const auto waits = [](const Shared::Pending& one) { return one.since.seconds() > kLongWaitSeconds; };
    if (shared_->asked || std::ranges::none_of(shared_->pending, waits)) return;
    shared_->asked = true;
    other = 1 - shared_->current;
    *request.mutable_caller() = shared_->who;
  }
  way(other).call({static_cast<uint16_t>(wire::REPLICA_STATUS), request.SerializeAsString(), {}},
                  Deadline::after_seconds(kOtherAnswerSeconds),
                  [shared = shared_, other, name = peer_](const Result<rpc::Received>& answer) {
                    wire::ReplicaStatus status;
                    const bool said = answer.ok() && status.ParseFromString(answer->header);
                    {
                      const MutexLock lock(shared->mutex);
                      shared->asked = false;
                    }
                    if (!said || status.role() != wire::ReplicaStatus::PRIMARY) return;
                    for (rpc::Callback& done : shared->move_to(other, status.epoch())) {
                      done(Status::unavailable("of {}, another process is the primary now; try again", name));
                    }
                  });
}

}  // namespace argosy::ps
