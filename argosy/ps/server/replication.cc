#include "argosy/ps/server/replication.h"

#include <algorithm>
#include <utility>

#include "argosy/base/notice.h"
#include "argosy/base/plant.h"
#include "argosy/ps/server/replica_record.h"

namespace argosy::ps {
namespace {

constexpr uint64_t kNearBytes = uint64_t{4} << 20;  // of the log: so little is missing to a follower that answers wait for it
constexpr size_t kSentAnswers = 16;                 // to the follower, whose times are kept

uint64_t answer_bytes(const Outgoing& answer) { return answer.header.size() + rpc::payload_bytes(answer.payload); }

}  // namespace

Replication::Replication(const ServerOptions& options, std::string name, Changes& changes, Ending& ending, Limit& held)
    : options_(options), name_(std::move(name)), changes_(changes), ending_(ending), limit_(held) {}

uint64_t Replication::log_end() const { return changes_.journal() == nullptr ? 0 : changes_.journal()->log().end(); }

// ---- From the arbiter.

Status Replication::lead(uint64_t epoch) {
  RETURN_IF_ERROR(write_replica_record(options_.directory, {.epoch = epoch, .primary = true, .launch = options_.launch})
                      .with_context("{} cannot become the primary of epoch {}", name_, epoch));
  std::vector<Held> ready;
  bool left_out = false;
  {
    const MutexLock lock(mutex_);
    left_out = phase_ == Phase::closing || phase_ == Phase::whole;
    epoch_ = epoch;
    phase_ = Phase::alone;
    holds_ = false;
    follower_ = 0;
    position_ = 0;
    sent_.clear();
    ready = take_all();
  }
  finish_all(std::move(ready));
  if (left_out) {
    notice(LogLevel::warning,
           "{} goes on without its follower, in epoch {}: until another one has caught up, its loss is one process away", name_,
           epoch);
  }
  if (!left_out) notice("{} is the primary, in epoch {}", name_, epoch);
  metrics_ = observe::Registry::process().collect([this](observe::Readings& readings) { read_metrics(readings); });
  return {};
}

Status Replication::check_epoch(uint64_t epoch) { return epoch <= epoch_ ? Status() : fence(epoch); }

Status Replication::fence(uint64_t epoch) {
  return ending_.fatal(
      Status::failed_precondition("{} is fenced: epoch {} has begun with another process as the primary, and this one is of "
                                  "epoch {}. What it has not acknowledged "
                                  "is repeated there by who sent it. Started again, it becomes the follower",
                                  name_, epoch, epoch_.load()));
}

void Replication::fill(wire::ReplicaStatus& status) const {
  const uint64_t end = log_end();
  const MutexLock lock(mutex_);
  status.set_epoch(epoch_);
  status.set_whole(phase_ == Phase::closing || phase_ == Phase::whole);
  status.set_silent_seconds(follower_ == 0 ? 0 : heard_.seconds());
  status.set_behind_bytes(follower_ == 0 || end < position_ ? 0 : end - position_);
}

// ---- From the follower.

Status Replication::admit(const wire::FollowRequest& request) {
  RETURN_IF_ERROR(check_epoch(request.epoch()));
  const MutexLock lock(mutex_);
  if (epoch_ == 0) return Status::unavailable("{} is not the primary yet", name_);
  if (follower_ == request.replica() && (request.epoch() == 0 || request.epoch() == epoch_)) return {};
  if (request.epoch() != 0) {
    return Status::failed_precondition(
        "{} goes on in epoch {} without this follower, which was its follower in epoch {}: it may lack what was acknowledged "
        "since. "
        "Started again, it begins with what the server has now",
        name_, epoch_.load(), request.epoch());
  }
  if (phase_ == Phase::closing || phase_ == Phase::whole) {
    return Status::unavailable("{} waits for the follower that it had until its arbiter leaves that one out", name_);
  }
  follower_ = request.replica();
  phase_ = Phase::catching_up;
  position_ = 0;
  sent_.clear();
  heard_.restart();
  return {};
}

// The follower has the answer, so it was alive after that had gone.
void Replication::keep_lease(uint64_t heard) {
  const auto sent = sent_.find(heard);
  if (sent == sent_.end()) return;
  lease_end_ =
      sent->second + std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(kReplicaLeaseSeconds));
  sent_.erase(sent_.begin(), std::next(sent));
}

// Answers that have gone without being kept back rest on less than the end that is taken after holds_ is set.
bool Replication::advance() {
  if (const uint64_t end = log_end(); phase_ == Phase::catching_up && end <= position_ + kNearBytes) {
    phase_ = Phase::closing;
    holds_ = true;
    whole_at_ = log_end();
  }
  if (phase_ != Phase::closing || position_ < whole_at_) return false;
  phase_ = Phase::whole;
  return true;
}

void Replication::kept(const wire::FollowRequest& request, uint64_t position) {
  std::vector<Held> ready;
  bool whole = false;
  {
    const MutexLock lock(mutex_);
    if (request.replica() != follower_) return;
    heard_.restart();
    position_ = std::max(position_, position);
    keep_lease(request.heard());
    whole = advance();
    ready = take_ready();
  }
  finish_all(std::move(ready));
  if (whole) notice("{} has a follower that has everything, in epoch {}", name_, epoch_.load());
}

void Replication::stamp(wire::FollowReply& reply) {
  const MutexLock lock(mutex_);
  reply.set_epoch(epoch_);
  reply.set_number(++number_);
  reply.set_whole(phase_ == Phase::whole);
  sent_[number_] = SteadyClock::now();
  if (sent_.size() > kSentAnswers) sent_.erase(sent_.begin());
}

// ---- Answers.

bool Replication::has_lease() const { return phase_ != Phase::whole || SteadyClock::now() < lease_end_; }

std::vector<Replication::Held> Replication::take_ready() {
  std::vector<Held> ready;
  while (!held_.empty() && held_.begin()->first <= position_ && has_lease()) {
    limit_.give_back(held_.begin()->second.bytes);
    ready.push_back(std::move(held_.begin()->second));
    held_.erase(held_.begin());
  }
  return ready;
}

std::vector<Replication::Held> Replication::take_all() {
  std::vector<Held> ready;
  for (auto& [end, held] : std::exchange(held_, {})) ready.push_back(std::move(held));
  limit_.set_now(0);
  return ready;
}

void Replication::finish(Held held) {
  held.status.ok() ? held.reply.send(std::move(held.answer.header), std::move(held.answer.payload))
                   : held.reply.fail(std::move(held.status));
}

void Replication::finish_all(std::vector<Held> ready) {
  for (Held& held : ready) finish(std::move(held));
}

void Replication::pass(rpc::Reply reply, Status status, Outgoing answer) {
  Held held{.reply = std::move(reply), .status = std::move(status), .answer = std::move(answer)};
  if (!holds_ || ARGOSY_PLANTED("answer_before_follower")) return finish(std::move(held));
  const uint64_t end = log_end();
  held.bytes = answer_bytes(held.answer);
  {
    const MutexLock lock(mutex_);
    const bool goes = !holds_ || (end <= position_ && has_lease());
    const Status room = goes ? Status() : stopped_ ? Status::unavailable("it is stopping") : limit_.take(held.bytes);
    if (!goes && room.ok()) {
      held_.emplace(end, std::move(held));
      return;
    }
    if (!goes) held.status = Status::unavailable("{} waits for its follower: {}", name_, room.message());
  }
  finish(std::move(held));
}

void Replication::stop() {
  metrics_.end();
  std::vector<Held> left;
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    left = take_all();
  }
  for (Held& held : left) held.reply.fail(Status::unavailable("{} is stopping", name_));
}

void Replication::read_metrics(observe::Readings& readings) const {
  wire::ReplicaStatus now;
  fill(now);
  const observe::Labels labels = {{"server", std::to_string(options_.server)}};
  readings.gauge("argosy_replica_epoch", "The epoch in which this process is the primary of its server.",
                 static_cast<double>(now.epoch()), labels);
  readings.gauge("argosy_replica_whole",
                 "1: nothing is acknowledged that the follower has not; 0: the server is one process alone.", now.whole() ? 1 : 0,
                 labels);
  readings.gauge("argosy_replica_behind_bytes", "Bytes of the log that the follower has not acknowledged.",
                 static_cast<double>(now.behind_bytes()), labels);
}

}  // namespace argosy::ps
