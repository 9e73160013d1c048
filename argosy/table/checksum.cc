#include "argosy/table/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace argosy::table {

uint64_t checksum_of(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t checksum_of(std::span<const Bytes> pieces) {
  if (pieces.size() == 1) return checksum_of(pieces.front());
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const Bytes piece : pieces) {
    if (!piece.empty()) XXH3_64bits_update(&state, piece.data(), piece.size());
  }
  return XXH3_64bits_digest(&state);
}

}  // namespace argosy::table
