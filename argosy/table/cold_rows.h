#pragma once

#include <cstdint>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/table/cold_store.h"

namespace argosy::table {

// Rows of a block of keys that are on disk only, as copies in memory. Keeps its memory from block to block. Thread-compatible.
class ColdRows {
 public:
  // The row of the block's i-th key, in RowLayout; null: it is in memory, or there is none.
  const float* row(size_t i) const { return i < places_.size() && places_[i] != kNone ? rows_.data() + places_[i] : nullptr; }
  void drop(size_t i) {
    if (i < places_.size()) places_[i] = kNone;
  }

  // Forgets everything, for a block of so many keys.
  void clear(size_t keys);
  // Notes that read() looks for the block's i-th key.
  void want(size_t i, uint64_t key);
  bool wants_any() const { return !keys_.empty(); }
  Status read(const ColdStore& store, uint32_t shard, size_t row_bytes);

 private:
  static constexpr size_t kNone = ~size_t{0};
  std::vector<uint64_t> keys_;
  std::vector<size_t> which_;   // of the block has the key
  std::vector<size_t> places_;  // by place in the block: in rows_
  std::vector<float> rows_;
};

}  // namespace argosy::table
