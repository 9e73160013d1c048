#include "argosy/rpc/grpc_bytes.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <memory>

namespace argosy::rpc {
namespace {

void release(void* owner) { delete static_cast<std::shared_ptr<const void>*>(owner); }

grpc::Slice to_grpc_slice(const Slice& slice) {
  // gRPC's slices are of bytes that may be written to; the transport only reads them.
  void* data = const_cast<void*>(slice.data);
  if (slice.owner == nullptr) return grpc::Slice(data, slice.size, grpc::Slice::STATIC_SLICE);
  return grpc::Slice(data, slice.size, release, new std::shared_ptr<const void>(slice.owner));
}

}  // namespace

grpc::ByteBuffer to_byte_buffer(const FrameInfo& info, std::string_view header, const std::vector<Slice>& payload) {
  std::vector<grpc::Slice> slices;
  slices.reserve(payload.size() + 1);
  slices.emplace_back(frame_head(info, header, payload_bytes(payload)));
  for (const Slice& slice : payload) {
    if (slice.size > 0) slices.push_back(to_grpc_slice(slice));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

Result<WireFrame> decode_frame(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  if (bytes.Valid() && !bytes.Dump(&slices).ok()) return Status::invalid_argument("a message could not be unpacked");
  std::vector<std::string_view> pieces;
  pieces.reserve(slices.size());
  for (const grpc::Slice& slice : slices) pieces.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return decode_frame(pieces);
}

std::optional<uint16_t> peek_kind(const grpc::ByteBuffer& bytes) {
  if (!bytes.Valid()) return std::nullopt;
  grpc::Slice only;
  if (bytes.TrySingleSlice(&only).ok()) {
    return peek_kind(std::string_view(reinterpret_cast<const char*>(only.begin()), only.size()));
  }
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return std::nullopt;
  std::string front;
  for (size_t i = 0; i < slices.size() && front.size() < kFramePrelude; ++i) {
    front.append(reinterpret_cast<const char*>(slices[i].begin()), std::min(slices[i].size(), kFramePrelude));
  }
  return peek_kind(front);
}

}  // namespace argosy::rpc
