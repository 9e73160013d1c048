#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace argosy {

// Numbers the distinct keys of a step 0, 1, 2, … in order of first appearance. An open-addressing table that is kept from step
// to step, so that a step neither sorts nor allocates once its size has been seen. Thread-compatible.
class KeyIndex {
 public:
  // Forgets all keys, and makes room for so many calls of add().
  void reset(size_t additions);
  // Keeps the keys, and makes room for so many more calls.
  void reserve_more(size_t additions);

  // The number of `key`, a new one where it is not known yet. REQUIRES: room for it was made.
  uint32_t add(uint64_t key) {
    size_t at = slot_of(key);
    while (entries_[at].epoch == epoch_ && entries_[at].key != key) at = (at + 1) & (entries_.size() - 1);
    Entry& entry = entries_[at];
    if (entry.epoch != epoch_) {
      entry = {key, epoch_, static_cast<uint32_t>(keys_.size())};
      keys_.push_back(key);
    }
    return entry.number;
  }

  // Brings the memory that add(key) will look at first nearer.
  void prefetch(uint64_t key) const { __builtin_prefetch(&entries_[slot_of(key)]); }

  size_t size() const { return keys_.size(); }
  std::span<const uint64_t> keys() const { return keys_; }  // by number

 private:
  struct Entry {
    uint64_t key;
    uint32_t epoch;  // the entry is empty where it is not the current one
    uint32_t number;
  };

  size_t slot_of(uint64_t key) const { return static_cast<size_t>(key * 0x9e3779b97f4a7c15ULL >> 20) & (entries_.size() - 1); }
  void grow(size_t keys);

  std::vector<Entry> entries_;  // size is a power of two, more than twice the keys
  uint32_t epoch_ = 0;
  std::vector<uint64_t> keys_;
};

}  // namespace argosy
