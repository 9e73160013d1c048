// Any bytes as a message from the wire, in pieces of any sizes: an error, or a frame that is written back as it was read.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/rpc/wire_frame.h"

using namespace argosy::rpc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = data[0];  // 0: all in one
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string_view> pieces;
  for (size_t at = 0; at < bytes.size(); at += pieces.back().size())
    pieces.push_back(bytes.substr(at, piece == 0 ? bytes.npos : piece));

  const auto frame = decode_frame(pieces);
  if (!frame.ok()) return 0;
  std::string again = frame_head(frame->info, frame->header, frame->payload.size());
  if (!frame->payload.empty()) again.append(reinterpret_cast<const char*>(frame->payload.data()), frame->payload.size());
  ARGOSY_CHECK(again == bytes, "a frame changed on its way");
  return 0;
}
