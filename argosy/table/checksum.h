#pragma once

#include <cstdint>
#include <span>

#include "argosy/base/disk_file.h"

namespace argosy::table {

// XXH3, 64 bits, of the pieces as if they were one: part of the formats of logs and snapshots.
uint64_t checksum_of(std::span<const Bytes> pieces);
uint64_t checksum_of(Bytes bytes);

}  // namespace argosy::table
