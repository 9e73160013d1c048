#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/table/change_tracker.h"

namespace argosy::ps {

// The bytes of a message. resource_exhausted, naming it, where it is larger than a message may be (2 GiB): never an empty string
// in place of a message that has something to say. `most_bytes` is for tests.
Result<std::string> serialise(const google::protobuf::MessageLite& message, uint64_t most_bytes = (uint64_t{1} << 31) - 1);

// What a server knows besides the rows and values of its tables, as it was at one moment. Bytes that workers sent, and keys, are
// shared with the state and not copied, so that taking it is short however much there is. Thread-compatible.
struct StateCut {
  // A push that waits for its step.
  struct Held {
    std::string header;
    std::span<const std::byte> payload;
    std::shared_ptr<const void> owner;  // of the payload
  };
  // A message between workers, in the order of its mailbox.
  struct Message {
    uint32_t to = 0;
    uint32_t from = 0;
    std::shared_ptr<const std::string> bytes;
  };
  // Keys of a geo table that a worker has not been told of.
  struct Changed {
    uint32_t table = 0;
    table::ChangeTracker::Pending pending;
  };

  wire::StateImage head;  // everything else
  std::vector<Held> held;
  std::vector<Message> messages;
  std::vector<Changed> changed;

  // Shows held pushes, messages and changed keys as serialised StateImages of about `piece_bytes` each (one item at least),
  // counts them in head.pieces, and returns the serialised head, which comes last.
  Result<std::string> write(uint64_t piece_bytes, const std::function<Status(std::string_view piece)>& visit);
};

// Puts pieces and head together again. `data_loss` where one cannot be read, or pieces are missing.
class StateImageReader {
 public:
  Status add(std::string_view piece);
  Result<wire::StateImage> finish(std::string_view head) &&;

 private:
  wire::StateImage image_;
  uint64_t pieces_ = 0;
};

}  // namespace argosy::ps
