#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/rpc/message.h"
#include "argosy/rpc/wire_frame.h"

namespace argosy::rpc {

// A frame as gRPC sends it: prelude and header in a slice of their own, then the payload where it lies. The byte buffer
// shares the slices' owners.
grpc::ByteBuffer to_byte_buffer(const FrameInfo& info, std::string_view header, const std::vector<Slice>& payload);

Result<WireFrame> decode_frame(const grpc::ByteBuffer& bytes);

// The method of a request, without reading all of it; nothing where it is none.
std::optional<uint16_t> peek_kind(const grpc::ByteBuffer& bytes);

}  // namespace argosy::rpc
