#include "argosy/ps/server/log_stream.h"

#include "argosy/table/checksum.h"
#include "argosy/table/log_format.h"

namespace argosy::ps {
namespace {

constexpr uint64_t kMostRecord = uint64_t{1} << 40;  // far more than any: sums of these do not overflow

}  // namespace

void LogStream::begin(uint64_t position) {
  next_ = position;
  last_position_ = last_checksum_ = 0;
}

// Each position larger than the one before: it tells best what has happened, so it is looked at first.
Status LogStream::check_positions(const wire::FollowReply& reply) const {
  uint64_t before = last_position_;
  for (const wire::FollowReply::One& one : reply.records()) {
    if (one.position() < next_ || one.position() == before) {
      return Status::data_loss("{} has sent the record at position {} again: a duplicate", primary_, one.position());
    }
    if (one.position() < before) {
      return Status::data_loss("{} has sent the record at position {} after the one at {}: out of order", primary_,
                               one.position(), before);
    }
    before = one.position();
  }
  return {};
}

Status LogStream::check_order(const wire::FollowReply& reply) const {
  if (reply.from() != next_) {
    return Status::data_loss("{} has answered for position {}, and {} was asked for: {}", primary_, reply.from(), next_,
                             reply.from() > next_ ? "a gap" : "a duplicate");
  }
  if (reply.end() < reply.next() || reply.end() < next_) {
    return Status::data_loss("the log of {} ends at position {}, and this follower has records up to {}: it has gone backwards",
                             primary_, reply.end(), std::max(next_, reply.next()));
  }
  RETURN_IF_ERROR(check_positions(reply));
  uint64_t behind = next_;
  for (const wire::FollowReply::One& one : reply.records()) {
    if (one.after() != behind || one.position() < behind) {
      return Status::data_loss(
          "{} has sent the record at position {}, which comes after one that ends at {}, and this follower has been sent "
          "everything up to {}: a gap",
          primary_, one.position(), one.after(), behind);
    }
    if (one.bytes() > kMostRecord) return Status::data_loss("{} has sent a record of {} bytes", primary_, one.bytes());
    behind = one.position() + table::record_size(one.bytes());
  }
  if (reply.next() == behind) return {};
  return Status::data_loss("{} has sent records up to position {}, and says that they go on at {}: {}", primary_, behind,
                           reply.next(), reply.next() > behind ? "a gap" : "a duplicate");
}

Result<std::vector<LogStream::One>> LogStream::take(const wire::FollowReply& reply, argosy::Bytes payload) {
  RETURN_IF_ERROR(check_order(reply));
  std::vector<One> records;
  uint64_t at = 0;
  for (const wire::FollowReply::One& one : reply.records()) {
    const bool packed = one.packed_bytes() != 0;
    const uint64_t sent = packed ? one.packed_bytes() : one.bytes();
    if (packed && !rounded_)
      return Status::data_loss("{} has sent the record at position {} rounded, and that was not asked for", primary_,
                               one.position());
    if (sent > kMostRecord || sent + table::padding_after(sent) > payload.size() - at) {
      return Status::data_loss("{} has sent {} bytes of records, fewer than it says", primary_, payload.size());
    }
    const argosy::Bytes bytes = payload.subspan(at, sent);
    if (table::checksum_of(bytes) != (packed ? one.packed_checksum() : one.checksum())) {
      return Status::data_loss("{}: the record at position {} ({} bytes) has changed on its way: its checksum is wrong", primary_,
                               one.position(), sent);
    }
    records.push_back({one.position(), bytes, packed});
    at += sent + table::padding_after(sent);
  }
  if (at != payload.size()) {
    return Status::data_loss("{} has sent {} bytes of records, and says that there are {}", primary_, payload.size(), at);
  }
  next_ = reply.next();
  if (!records.empty()) {
    last_position_ = records.back().position;
    last_checksum_ = reply.records().rbegin()->checksum();
  }
  return records;
}

}  // namespace argosy::ps
