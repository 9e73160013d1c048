#pragma once

#include <cstdint>
#include <vector>

#include "argosy/data/vocabulary.h"

namespace argosy::data {

// Draws words as often as count^power says (word2vec's unigram table, here by Walker's alias method: exact, two numbers a word).
// Immutable, and so thread-safe.
class WordSampler {
 public:
  WordSampler(const Vocabulary& vocabulary, double power);

  // What 64 random bits stand for.
  int64_t word(uint64_t bits) const {
    const uint64_t column = (bits >> 32) * entries_.size() >> 32;
    const Entry& entry = entries_[column];
    return static_cast<uint32_t>(bits) < entry.own ? static_cast<int64_t>(column) : entry.other;
  }

 private:
  struct Entry {
    uint32_t own;    // of 2^32 draws of this column so many are its own word
    uint32_t other;  // the others are this one
  };
  std::vector<Entry> entries_;
};

}  // namespace argosy::data
