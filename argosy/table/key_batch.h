#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "argosy/table/shard.h"

namespace argosy::table {

// Keys in the order of their shards. Keeps its memory from batch to batch. Thread-compatible.
class KeyBatch {
 public:
  static constexpr size_t kMost = 32768;  // keys, so that the work on them stays in the processor's cache

  // REQUIRES: at most kMost keys. The first has position `first_position`.
  void deal(std::span<const uint64_t> keys, uint32_t first_position, unsigned shard_bits) {
    const unsigned shift = 63 - shard_bits;  // in two shifts, as one by 64 is not allowed
    ends_.assign((size_t{1} << shard_bits) + 1, 0);
    mixed_.resize(keys.size());
    probes_.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      mixed_[i] = mix64(keys[i]);
      ++ends_[(mixed_[i] >> shift >> 1) + 1];
    }
    for (size_t shard = 1; shard < ends_.size(); ++shard) ends_[shard] += ends_[shard - 1];
    // Each number grows from its shard's beginning to its end, which is the next one's beginning.
    for (size_t i = 0; i < keys.size(); ++i) {
      probes_[ends_[mixed_[i] >> shift >> 1]++] = {keys[i], index_hash(mixed_[i]), first_position + static_cast<uint32_t>(i)};
    }
  }

  std::span<const Probe> of(size_t shard) const {
    const uint32_t begin = shard == 0 ? 0 : ends_[shard - 1];
    return {probes_.data() + begin, ends_[shard] - begin};
  }

 private:
  std::vector<uint32_t> ends_;
  std::vector<uint64_t> mixed_;
  std::vector<Probe> probes_;
};

}  // namespace argosy::table
