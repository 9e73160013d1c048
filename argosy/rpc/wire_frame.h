#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/rpc/message.h"

namespace argosy::rpc {

// What crosses the wire, little-endian:
//
//   u32  magic, "argo"
//   u16  version of the protocol
//   u16  a request: the method; an answer: the status code
//   u64  the call, numbered by the caller; an answer has its request's number
//   u64  a request: microseconds that the caller will wait; an answer: 0
//   u32  bytes of the header
//   u32  bytes of the payload
//   ...  header (an answer with an error: its message), then payload
//
// The first six bytes stay where they are in every version, so that each side can name the other's.
inline constexpr uint16_t kProtocolVersion = 1;
inline constexpr size_t kFramePrelude = 32;
inline constexpr size_t kLargestFrame = (size_t{1} << 31) - 1;  // what gRPC can carry in one message

// Answered by the server itself, once it has checked the token and the version: what wait_ready() sends.
inline constexpr uint16_t kPingMethod = 0xffff;

// A frame without its header and payload.
struct FrameInfo {
  uint16_t kind = 0;  // the method or the status code
  uint64_t call = 0;
  uint64_t wait_us = 0;
};

struct WireFrame {
  FrameInfo info;
  std::string header;
  PayloadBuffer payload;
};

// The method or status code of a frame that begins with these bytes; nothing where there are too few.
std::optional<uint16_t> peek_kind(std::string_view front);

// Prelude and header of a frame whose payload follows. `version` differs from ours in tests only.
std::string frame_head(const FrameInfo& info, std::string_view header, size_t payload_bytes, uint16_t version = kProtocolVersion);

// An error where the frame would be larger than `limit` or than the wire can carry.
Status check_frame_size(size_t header_bytes, size_t payload_bytes, size_t limit);

// Reads one frame that arrived in pieces of any sizes; the payload is copied once, into its aligned buffer. Bytes that are
// no frame are `invalid_argument`, one of another version `failed_precondition`; the message has both versions.
Result<WireFrame> decode_frame(std::span<const std::string_view> pieces);

}  // namespace argosy::rpc
