#include "argosy/ps/server/log_feed.h"

#include <algorithm>
#include <utility>

#include "argosy/base/identity.h"
#include "argosy/base/log.h"
#include "argosy/ps/server/rounded_record.h"
#include "argosy/ps/server/snapshot_feed.h"
#include "argosy/table/checksum.h"
#include "argosy/table/log_format.h"

namespace argosy::ps {
namespace {

constexpr uint64_t kMostFedBytes = uint64_t{16} << 20;  // of records in an answer, but for one that is larger alone
constexpr double kIdleSeconds = 0.2;  // a fifth of the lease of a primary
constexpr std::chrono::seconds kFollowerSilence{30};         // after which a follower is gone; it asks again every few seconds
constexpr std::chrono::seconds kReplicaSilence{2};  // the same of a server's other process, which asks every kIdleSeconds

// A file of the log may be removed while it is looked for, or have been: then the log is cut, and the next try sees it. Damage,
// and what a visitor says, is no such thing.
Status if_cut(const Status& read) {
  if (read.ok() || read.code() == Code::cancelled || read.code() == Code::data_loss) return {};
  return Status::unavailable("the log is being cut for a snapshot; try again ({})", read.message());
}

// Ends a replay that has shown enough.
Status enough_read() { return Status::cancelled("the rest comes later"); }

}  // namespace

LogFeed::LogFeed(const Uses& uses, std::string name)
    : options_(uses.options),
      changes_(uses.changes),
      parking_(uses.parking),
      limit_(uses.followers),
      answer_(uses.answer),
      replication_(uses.replication),
      name_(std::move(name)),
      process_(draw_identity()) {}

bool LogFeed::is_live(const FollowerPosition& follower) {
  return SteadyClock::now() - follower.heard < (follower.replica == 0 ? kFollowerSilence : kReplicaSilence);
}

// A server has one second process: with the next one, those before it are gone, however lately they were heard of.
Status LogFeed::note(const wire::FollowRequest& request, const std::string& peer) {
  const uint64_t number = request.caller().incarnation();
  const MutexLock lock(mutex_);
  if (!known_.contains(number)) {
    std::erase_if(known_, [&](const Known::value_type& one) {
      return !is_live(one.second) || (request.replica() != 0 && one.second.replica != 0);
    });
    limit_.set_now(known_.size());
    if (known_.size() >= limit_.most()) return limit_.refuse(1);
  }
  FollowerPosition& place = known_[number];
  place.heard = SteadyClock::now();
  place.peer = peer;
  place.replica = request.replica();
  place.from = request.from();
  limit_.set_now(known_.size());
  return {};
}

// One that begins is sent to a snapshot too, and is not behind.
void LogFeed::note_snapshot(uint64_t number, bool sent, uint64_t first) {
  FollowerPosition now;
  {
    const MutexLock lock(mutex_);
    const auto place = known_.find(number);
    if (place == known_.end()) return;  // dropped meanwhile
    std::swap(place->second.to_snapshot, sent);
    if (sent || !place->second.to_snapshot || place->second.from == 0) return;
    now = place->second;
  }
  log_warning(
      "the follower at {} was left behind: it has the log up to position {}, which now begins at {}; it takes the newest "
      "snapshot",
      now.peer, now.from, first);
}

void LogFeed::note_told(uint64_t number, uint64_t end) {
  {
    const MutexLock lock(mutex_);
    if (const auto place = known_.find(number); place != known_.end()) place->second.told = end;
  }
  told_.notify_all();
}

void LogFeed::drop_replica() {
  {
    const MutexLock lock(mutex_);
    std::erase_if(known_, [](const Known::value_type& one) { return one.second.replica != 0; });
    limit_.set_now(known_.size());
  }
  told_.notify_all();
}

uint32_t LogFeed::followers() const {
  const MutexLock lock(mutex_);
  return static_cast<uint32_t>(std::ranges::count_if(known_, [](const auto& one) { return is_live(one.second); }));
}

void LogFeed::drain(Deadline deadline) {
  if (changes_.journal() == nullptr) return;
  const uint64_t end = changes_.journal()->log().end();
  MutexLock lock(mutex_);
  const auto all_told = [&]() ARGOSY_REQUIRES(mutex_) {
    return std::ranges::all_of(known_, [&](const auto& one) { return one.second.told == end || !is_live(one.second); });
  };
  // Who dies meanwhile does not say so: that is looked for.
  while (!deadline.passed() &&
         !told_.wait_until(lock, std::min(deadline.when(), Deadline::after_seconds(kIdleSeconds).when()), all_told)) {
  }
  for (const auto& [number, one] : known_) {
    if (one.told == end || (one.replica != 0 && !is_live(one))) continue;  // a server of two processes goes on without one
    log_warning("ends, and the follower at {} was left behind: it has the log up to position {} of {}", one.peer, one.from, end);
  }
}

// Whether what the follower has is what this log begins with.
Status LogFeed::check_from(const table::RecordLog& log, const wire::FollowRequest& request) const {
  if (const uint64_t end = log.end(); request.from() > end) {
    return Status::failed_precondition(
        "the log of {} ends at position {}, and the follower has records up to {}: the server has gone backwards, as after a "
        "power cut or on another directory. Start the follower again, and it takes what the server has now",
        name_, end, request.from());
  }
  const uint64_t last = request.last_position();
  if (last == 0 || last < log.first()) return {};
  bool same = false;
  const Status read = log.replay(last, [&](uint64_t position, argosy::Bytes bytes) {
    same = position == last && table::checksum_of(bytes) == request.last_checksum();
    return enough_read();
  });
  RETURN_IF_ERROR(if_cut(read));
  if (same) return {};
  return Status::failed_precondition(
      "the log of {} has another record at position {} than the follower: the server has gone backwards and on by another way, "
      "as "
      "after a power cut or on another directory. Start the follower again, and it takes what the server has now",
      name_, last);
}

bool LogFeed::needs_snapshot(const table::RecordLog& log, const State& state, const wire::FollowRequest& request) const {
  if (request.loaded() != state.last_loaded() || request.from() < log.first()) return true;
  if (request.from() != 0) return false;
  const auto newest = newest_snapshot(options_);  // of this run, which the beginning of the log may not be
  return newest.ok() && *newest != 0;
}

Status LogFeed::read(const table::RecordLog& log, const State& state, const wire::FollowRequest& request, uint64_t max_bytes,
                     wire::FollowReply& reply, std::vector<std::byte>& payload) {
  const auto format = static_cast<WireFormat>(request.replica() == 0 ? request.wire_format() : 0);
  uint64_t after = request.from();
  payload.reserve(std::min(max_bytes, log.end() - std::min(log.end(), after)));
  const Status status = log.replay(after, [&](uint64_t position, argosy::Bytes bytes) {
    const auto rounded = round_record(state.spec(), bytes, format);
    const argosy::Bytes sent = rounded ? argosy::Bytes(*rounded) : bytes;
    if (!payload.empty() && payload.size() + sent.size() > max_bytes) return enough_read();
    wire::FollowReply::One* one = reply.add_records();
    one->set_position(position);
    one->set_after(after);
    one->set_bytes(bytes.size());
    one->set_checksum(table::checksum_of(bytes));
    if (rounded) {
      one->set_packed_bytes(sent.size());
      one->set_packed_checksum(table::checksum_of(sent));
    }
    payload.insert(payload.end(), sent.begin(), sent.end());
    payload.resize(payload.size() + table::padding_after(sent.size()));
    after = position + table::record_size(bytes.size());
    reply.set_next(after);
    return Status();
  });
  reply.set_all(status.ok());
  return status.code() == Code::cancelled ? Status() : status;
}

Status LogFeed::hear_replica(const wire::FollowRequest& request) {
  if (request.replica() == 0) return {};
  if (replication_ != nullptr) return replication_->admit(request);
  return Status::failed_precondition("{} is one process alone (replicas=0); it has no second one that could take over", name_);
}

// The process that was followed is not the primary any more, and its log has other positions than this one's; it may end with
// records that nobody has here.
Status LogFeed::check_log(const wire::FollowRequest& request) const {
  if (replication_ == nullptr || request.replica() != 0 || request.log() == 0 || request.log() == process_) return {};
  return Status::aborted("{} is the primary now (epoch {}), and the follower has read another process's log: it begins anew",
                         name_, replication_->epoch());
}

void LogFeed::answer_idle(State& state) {
  const auto is_idle = [](Topic topic, const Call& call) {
    if (topic != Topic::log || call.waited_seconds() < kIdleSeconds) return false;
    wire::FollowRequest request;
    return request.ParseFromString(call.request.header) && request.replica() != 0;
  };
  for (auto& [topic, call] : parking_.take_if(is_idle)) {
    wire::FollowRequest request;
    if (!request.ParseFromString(call->request.header)) continue;
    wire::FollowReply reply;
    reply.set_from(request.from());
    reply.set_next(request.from());
    reply.set_end(std::max(changes_.journal()->log().end(), request.from()));
    reply.set_version(state.version());
    reply.set_all(true);
    replication_->stamp(reply);
    call->send(outgoing(reply));
  }
}

void LogFeed::follow(const CallPtr& call, State& state, const wire::FollowRequest& request) {
  Journal* const journal = changes_.journal();
  if (journal == nullptr) {
    return call->fail(Status::failed_precondition(
        "{} keeps no log (durability={}), and a follower needs one: start the servers with a directory (--directory) and "
        "durability=wal",
        name_, durability_name(options_.settled_durability())));
  }
  const uint64_t number = request.caller().incarnation();
  if (!wire::TableSpec::WireFormat_IsValid(request.wire_format()))
    return call->fail(Status::invalid_argument("{} knows no wire_format {}", name_, static_cast<int>(request.wire_format())));
  if (Status s = hear_replica(request); !s.ok()) return call->fail(s);
  if (Status s = check_log(request); !s.ok()) return call->fail(s);
  if (Status s = note(request, call->request.peer); !s.ok()) return call->fail(s);
  const table::RecordLog& log = journal->log();
  changes_.await_log();  // before the log is looked at: what is appended later wakes this call
  const uint64_t seen = parking_.version(Topic::log);
  wire::FollowReply reply;
  reply.set_from(request.from());
  reply.set_next(request.from());
  std::vector<std::byte> payload;
  bool snapshot = needs_snapshot(log, state, request);
  if (!snapshot) {
    if (Status s = check_from(log, request); !s.ok()) return call->fail(s);
    if (request.replica() != 0) replication_->kept(request, request.from());
    const uint64_t most = std::clamp<uint64_t>(request.max_bytes(), 1, std::min(kMostFedBytes, answer_.most() / 2));
    const uint64_t end = log.end();
    const Status status = read(log, state, request, most, reply, payload);
    // The log may have been cut meanwhile, or a load may have come before records that were just read.
    snapshot = request.from() < log.first() || request.loaded() != state.last_loaded();
    if (!status.ok() && !snapshot) return call->fail(if_cut(status).ok() ? status : if_cut(status));
    if (!snapshot && payload.empty()) {
      // The log may have gone on in a new file, and has no record there.
      if (request.replica() != 0 && status.ok()) replication_->kept(request, end);
      note_told(number, end);
      if (!request.at_once()) return parking_.park(Topic::log, seen, call);
    }
  }
  if (snapshot) {
    reply.set_all(false);
    reply.clear_records();
    payload.clear();
    reply.set_next(request.from());
  }
  note_snapshot(number, snapshot, log.first());
  reply.set_snapshot_first(snapshot);
  reply.set_version(state.version());
  reply.set_end(std::max(log.end(), reply.next()));
  if (request.replica() != 0) {
    replication_->stamp(reply);
  } else if (replication_ != nullptr) {
    reply.set_log(process_);
  }
  call->send(outgoing(reply, {rpc::Slice::own(std::move(payload))}));
}

}  // namespace argosy::ps
