#pragma once

#include <cstdint>

namespace argosy::table {

// How much a shard, or all of a table's, has.
struct TableSize {
  uint64_t rows = 0;          // admitted ones, in memory and on disk
  uint64_t waiting = 0;       // keys that are counted and not admitted
  uint64_t cold_rows = 0;     // of `rows`, those on disk only
  uint64_t memory_bytes = 0;  // rows, index and counters of waiting keys, with the space that is reserved for more of them
};

}  // namespace argosy::table
