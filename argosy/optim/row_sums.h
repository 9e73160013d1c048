#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace argosy::optim {

// Adds up the rows of equal keys: an open-addressing table from key to slot, kept from one merge to the next, so that a
// merge neither sorts nor, once it has seen its largest, allocates.
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
    size_t at = first_probe(key);
    while (entries_[at].epoch == epoch_ && entries_[at].key != key) at = (at + 1) & mask_;
    return entries_[at].epoch == epoch_ ? entries_[at].slot : insert(at, key);
  }
  float* row(size_t slot) { return values_.data() + slot * width_; }

  size_t width() const { return width_; }
  std::span<const uint64_t> keys() const { return keys_; }
  std::span<const float> values() const { return {values_.data(), keys_.size() * width_}; }
  std::span<float> values() { return {values_.data(), keys_.size() * width_}; }

 private:
  struct Entry {
    uint64_t key;
    uint32_t epoch;
    uint32_t slot;
  };

  size_t first_probe(uint64_t key) const { return static_cast<size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift_); }
  size_t insert(size_t at, uint64_t key);

  std::vector<Entry> entries_;  // size is a power of two; an entry is empty where its epoch is not the current one
  size_t mask_ = 0;
  int shift_ = 0;  // takes the top bits of a product, as many as the table has
  uint32_t epoch_ = 0;
  size_t width_ = 0;
  std::vector<uint64_t> keys_;
  std::vector<float> values_;  // keys_.size() rows in use
};

}  // namespace argosy::optim
