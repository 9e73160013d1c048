#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"

namespace argosy::table {

// The memory of a table's rows: one range of addresses, reserved at once and made usable bit by bit, so that row n always
// stands at base + n * row size, no row ever moves, and growing copies nothing. Big pages where the kernel has them.
//
// Thread-safe: take_chunk() has a lock; row() is pure.
class RowArena {
 public:
  // Reserves as many rows as this machine's memory could hold. resource_exhausted if the addresses are refused.
  static Result<std::unique_ptr<RowArena>> make(size_t row_words);
  ~RowArena();
  RowArena(const RowArena&) = delete;
  RowArena& operator=(const RowArena&) = delete;

  float* row(uint32_t slot) { return base_ + slot * row_words_; }
  const float* row(uint32_t slot) const { return base_ + slot * row_words_; }
  uint32_t chunk_rows() const { return chunk_rows_; }

  // The first of chunk_rows() new rows, all zero. resource_exhausted if there are no more.
  Result<uint32_t> take_chunk();

 private:
  RowArena(void* mapping, size_t mapped_bytes, size_t row_words);
  Status commit(size_t bytes) ARGOSY_REQUIRES(mutex_);

  const size_t row_words_;
  const uint32_t chunk_rows_;
  void* const mapping_;
  const size_t mapped_bytes_;
  float* base_;        // on a big page's boundary
  uint64_t max_rows_;

  Mutex mutex_;
  uint64_t rows_ ARGOSY_GUARDED_BY(mutex_) = 0;
  size_t usable_bytes_ ARGOSY_GUARDED_BY(mutex_) = 0;
};

}  // namespace argosy::table
