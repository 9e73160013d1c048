#include "argosy/rpc/message.h"

namespace argosy::rpc {

Slice Slice::copy(const void* data, size_t size) { return own(std::string(static_cast<const char*>(data), size)); }

size_t payload_bytes(const std::vector<Slice>& payload) {
  size_t bytes = 0;
  for (const Slice& slice : payload) bytes += slice.size;
  return bytes;
}

}  // namespace argosy::rpc
