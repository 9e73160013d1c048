#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/base/disk_file.h"
#include "argosy/base/status.h"
#include "argosy/ps/spec/messages.pb.h"

namespace argosy::ps {

// How far a follower has read a log. It is shown the answers to Follow one after the other, and refuses by name whatever is not
// the next piece of the same log: a gap, a duplicate, records out of order, bytes that have changed on the way, a log that has
// become shorter.
//
// Thread-compatible.
class LogStream {
 public:
  // `primary`: whose log it is, for messages. `rounded`: packed pushes were asked for.
  explicit LogStream(std::string primary, bool rounded = false) : primary_(std::move(primary)), rounded_(rounded) {}

  // The follower has everything before `position`, from a snapshot; 0: nothing.
  void begin(uint64_t position);

  uint64_t next() const { return next_; }                        // what to ask for
  uint64_t last_position() const { return last_position_; }      // of the last record; 0: none since begin()
  uint64_t last_checksum() const { return last_checksum_; }

  struct One {
    uint64_t position = 0;
    argosy::Bytes bytes;  // over the payload
    bool packed = false;  // a push that the server has rounded; else the log's record
  };
  // The records of an answer, in their order; the stream has gone on behind them. After an error it is where it was: data_loss.
  Result<std::vector<One>> take(const wire::FollowReply& reply, argosy::Bytes payload);

 private:
  Status check_order(const wire::FollowReply& reply) const;
  Status check_positions(const wire::FollowReply& reply) const;

  const std::string primary_;
  const bool rounded_;
  uint64_t next_ = 0;
  uint64_t last_position_ = 0, last_checksum_ = 0;
};

}  // namespace argosy::ps
