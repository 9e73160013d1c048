#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "argosy/base/key_index.h"
#include "argosy/engine/program/value.h"

namespace argosy::engine {

// Adds up the gradients of equal rows; keeps its memory from step to step. Rows are found by a hash, or, in a table that has not
// many more than the gradient (rows that were pulled for a batch), by their place. Thread-compatible: one per thread.
class RowMerger {
 public:
  // After it, index() has each row once, in order of first appearance, and gradients() their sums, row after row. REQUIRES: ids
  // are rows of the table.
  void merge(const LookupGradient& gradient);

  // What the samples in which a row occurred add up to, one value a sample, in the order of index(). REQUIRES: merge(gradient)
  // was the last call that changed this; `values` has as many as each lookup has samples, and where a lookup has no boundaries of
  // samples, its ids are a multiple of them.
  void add_up(const LookupGradient& gradient, std::span<const float> values, std::vector<float>& sums);

  std::span<const int64_t> index() const;
  // Where nothing was to be added up it is the gradient's own memory.
  const float* gradients() const { return unmerged_.defined() ? unmerged_.const_data_ptr<float>() : sums_.data(); }

 private:
  void add_piece(const LookupGradient::Piece& piece, int64_t width, float scale);
  void add_row(int64_t id, const float* gradient, int64_t width, float scale);

  uint32_t number_of(int64_t id) {
    if (!by_place_) return rows_.add(static_cast<uint64_t>(id));
    uint32_t& number = numbers_[static_cast<size_t>(id)];
    if (number == kNone) {
      number = static_cast<uint32_t>(ids_.size());
      ids_.push_back(id);
    }
    return number;
  }

  static constexpr uint32_t kNone = ~uint32_t{0};

  bool by_place_ = false;
  at::Tensor unmerged_, unmerged_ids_;  // of a gradient with each row once
  KeyIndex rows_;                  // by hash
  std::vector<uint32_t> numbers_;  // by place: of each row of the table
  std::vector<int64_t> ids_;       // by place: of each number
  std::vector<float> sums_;
};

}  // namespace argosy::engine
