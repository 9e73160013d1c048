#pragma once

#include "argosy/base/status.h"
#include "argosy/rpc/channel.h"

namespace argosy::ps {

// Parses the header of an answer.
template <typename Reply>
Result<Reply> parse_reply(const rpc::Received& received) {
  Reply reply;
  if (reply.ParseFromString(received.header)) return reply;
  return Status::data_loss("the answer to method {} has a header of {} bytes that cannot be read", received.method,
                           received.header.size());
}

inline Status wrong_payload_size(const rpc::Received& received, size_t expected) {
  return Status::data_loss("the answer to method {} has {} bytes of payload; expected {}", received.method,
                           received.payload.size(), expected);
}

}  // namespace argosy::ps
