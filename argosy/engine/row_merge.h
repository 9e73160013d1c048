#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/engine/value.h"

namespace argosy::engine {

// Adds up the gradients of equal rows. An open-addressing table from id to slot, kept from step to step, so that a step
// neither sorts nor allocates. Thread-compatible: one a thread.
class RowMerger {
 public:
  // After it, index() has each row once, in order of first appearance, and gradients() their sums, row after row.
  void merge(const RowGradient& gradient);

  std::span<const int64_t> index() const { return unique_; }
  const float* gradients() const { return sums_.data(); }
  float* gradients() { return sums_.data(); }

 private:
  struct Entry {
    int64_t id;
    uint32_t epoch;
    uint32_t slot;
  };

  void reserve(size_t ids);
  void add_piece(const RowGradient::Piece& piece, int64_t width, float scale);
  void add_row(int64_t id, const float* gradient, int64_t width, float scale);

  std::vector<Entry> entries_;  // size is a power of two; an entry is empty where its epoch is not the current one
  uint32_t epoch_ = 0;
  std::vector<int64_t> unique_;
  std::vector<float> sums_;
};

}  // namespace argosy::engine
