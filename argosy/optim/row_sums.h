#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/base/key_index.h"

namespace argosy::optim {

// Adds up the rows of equal keys; keeps its memory from one merge to the next, so that a merge neither sorts nor, once it has
// seen its largest, allocates.
//
//   sums.begin(width, rows_at_most);
//   sums.add(keys, values, scale);          // any number of times
//   sums.keys(), sums.values()              // each key once, in order of first appearance
//
// Thread-compatible.
class RowSums {
 public:
  // Forgets what was added. REQUIRES: at most `rows` rows are added before the next begin().
  void begin(size_t width, size_t rows);

  // Adds scale * values[i] to the row of keys[i]; values holds keys.size() rows, one after the other.
  void add(std::span<const uint64_t> keys, const float* values, float scale = 1.0f);

  // The slot of `key`, which is made, with a row of zeros, where it is new. Slots count from 0 in order of first appearance.
  size_t slot_of(uint64_t key) {
    const size_t known = index_.size();
    const size_t slot = index_.add(key);
    if (slot == known) {
      ARGOSY_CHECK((slot + 1) * width_ <= values_.size(), "more rows than begin() was told of");
      std::fill_n(row(slot), width_, 0.0f);
    }
    return slot;
  }
  float* row(size_t slot) { return values_.data() + slot * width_; }

  size_t width() const { return width_; }
  std::span<const uint64_t> keys() const { return index_.keys(); }
  std::span<const float> values() const { return {values_.data(), index_.size() * width_}; }
  std::span<float> values() { return {values_.data(), index_.size() * width_}; }

 private:
  KeyIndex index_;
  size_t width_ = 0;
  std::vector<float> values_;  // index_.size() rows in use
};

}  // namespace argosy::optim
