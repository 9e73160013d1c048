#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "argosy/base/key_index.h"
#include "argosy/engine/value.h"

namespace argosy::engine {

// Adds up the gradients of equal rows; keeps its memory from step to step. Thread-compatible: one a thread.
class RowMerger {
 public:
  // After it, index() has each row once, in order of first appearance, and gradients() their sums, row after row.
  void merge(const RowGradient& gradient);

  // What the samples in which a row occurred add up to, one value a sample, in the order of index(). REQUIRES: merge(gradient)
  // was the last call that changed this; `values` has as many as each lookup has samples.
  void add_up(const RowGradient& gradient, std::span<const float> values, std::vector<float>& sums);

  std::span<const int64_t> index() const;
  const float* gradients() const { return sums_.data(); }
  float* gradients() { return sums_.data(); }

 private:
  void add_piece(const RowGradient::Piece& piece, int64_t width, float scale);
  void add_row(int64_t id, const float* gradient, int64_t width, float scale);

  KeyIndex rows_;
  std::vector<float> sums_;
};

}  // namespace argosy::engine
