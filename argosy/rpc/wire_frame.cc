#include "argosy/rpc/wire_frame.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace argosy::rpc {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are written as they lie in memory");

constexpr uint32_t kMagic = 0x6f677261;  // "argo"

struct Prelude {
  uint32_t magic;
  uint16_t version;
  uint16_t kind;
  uint64_t call;
  uint64_t wait_us;
  uint32_t header_bytes;
  uint32_t payload_bytes;
};
static_assert(sizeof(Prelude) == kFramePrelude);

// Copies bytes out of the pieces, in order. Thread-compatible.
class PieceReader {
 public:
  explicit PieceReader(std::span<const std::string_view> pieces) : pieces_(pieces) {}

  // REQUIRES: so many bytes are left.
  void read(void* out, size_t bytes) {
    auto* to = static_cast<char*>(out);
    while (bytes > 0) {
      const std::string_view rest = pieces_.front().substr(used_);
      const size_t taken = std::min(bytes, rest.size());
      if (taken > 0) std::memcpy(to, rest.data(), taken);
      to += taken;
      bytes -= taken;
      used_ += taken;
      if (taken == rest.size()) {
        pieces_ = pieces_.subspan(1);
        used_ = 0;
      }
    }
  }

 private:
  std::span<const std::string_view> pieces_;
  size_t used_ = 0;  // of the first piece
};

Status check_prelude(const Prelude& prelude, size_t arrived) {
  if (prelude.magic != kMagic) {
    return Status::invalid_argument(
        "these bytes are no argosy message (they begin with {:08x}, expected {:08x}); is another program at this address?",
        prelude.magic, kMagic);
  }
  if (prelude.version != kProtocolVersion) {
    return Status::failed_precondition(
        "the message has version {} of the protocol, this process speaks version {}; run one release of argosy on all machines",
        prelude.version, kProtocolVersion);
  }
  const uint64_t announced = uint64_t{kFramePrelude} + prelude.header_bytes + prelude.payload_bytes;
  if (announced != arrived) {
    return Status::invalid_argument("a message of {} bytes announces {} (header {}, payload {})", arrived, announced,
                                    prelude.header_bytes, prelude.payload_bytes);
  }
  return Status::ok_status();
}

}  // namespace

std::optional<uint16_t> peek_kind(std::string_view front) {
  uint16_t kind = 0;
  if (front.size() < offsetof(Prelude, kind) + sizeof kind) return std::nullopt;
  std::memcpy(&kind, front.data() + offsetof(Prelude, kind), sizeof kind);
  return kind;
}

std::string frame_head(const FrameInfo& info, std::string_view header, size_t payload_bytes, uint16_t version) {
  const Prelude prelude{.magic = kMagic,
                        .version = version,
                        .kind = info.kind,
                        .call = info.call,
                        .wait_us = info.wait_us,
                        .header_bytes = static_cast<uint32_t>(header.size()),
                        .payload_bytes = static_cast<uint32_t>(payload_bytes)};
  std::string head(kFramePrelude + header.size(), '\0');
  std::memcpy(head.data(), &prelude, kFramePrelude);
  std::copy(header.begin(), header.end(), head.begin() + kFramePrelude);
  return head;
}

Status check_frame_size(size_t header_bytes, size_t payload_bytes, size_t limit) {
  const size_t most = std::min(limit, kLargestFrame);
  if (payload_bytes <= most && header_bytes <= most && kFramePrelude + header_bytes + payload_bytes <= most)
    return Status::ok_status();
  return Status::resource_exhausted(
      "a message of {} bytes is larger than the {} allowed; send it in parts or raise max_message_bytes",
      kFramePrelude + header_bytes + payload_bytes, most);
}

Result<WireFrame> decode_frame(std::span<const std::string_view> pieces) {
  size_t arrived = 0;
  for (const std::string_view piece : pieces) arrived += piece.size();
  if (arrived < kFramePrelude) {
    return Status::invalid_argument("a message of {} bytes is shorter than the {} that every one begins with", arrived,
                                    kFramePrelude);
  }
  PieceReader reader(pieces);
  Prelude prelude;
  reader.read(&prelude, sizeof prelude);
  RETURN_IF_ERROR(check_prelude(prelude, arrived));

  WireFrame frame{.info = {prelude.kind, prelude.call, prelude.wait_us},
                  .header = std::string(prelude.header_bytes, '\0'),
                  .payload = PayloadBuffer(prelude.payload_bytes)};
  reader.read(frame.header.data(), frame.header.size());
  reader.read(frame.payload.data(), frame.payload.size());
  return frame;
}

}  // namespace argosy::rpc
