#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace argosy::data {

// Numbers words 0, 1, 2, … in order of first appearance. An open-addressing table over one piece of memory that has all words.
// Thread-compatible; find() may be called by several threads at once.
class WordIndex {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  WordIndex() : slots_(1024) {}

  uint32_t size() const { return static_cast<uint32_t>(ends_.size()); }
  std::string_view word(uint32_t number) const {
    const size_t begin = number == 0 ? 0 : ends_[number - 1];
    return {text_.data() + begin, ends_[number] - begin};
  }

  // The number of `word`, a new one where it is not known yet. REQUIRES: fewer than 2^32 - 1 words.
  uint32_t add(std::string_view word);
  // kNone: not known.
  uint32_t find(std::string_view word) const {
    const uint64_t hash = hash_of(word);
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.number == kNone) return kNone;
      if (slot.tag == tag_of(hash) && this->word(slot.number) == word) return slot.number;
    }
  }

 private:
  struct Slot {
    uint32_t tag = 0;  // of the word's hash, so that other words are seldom looked at
    uint32_t number = kNone;
  };

  static uint64_t hash_of(std::string_view word) {
    uint64_t hash = word.size() * 0x9e3779b97f4a7c15ULL;
    size_t at = 0;
    for (; at + 8 <= word.size(); at += 8) hash = mixed(hash, word.data() + at, 8);
    if (at < word.size()) hash = mixed(hash, word.data() + at, word.size() - at);
    return hash ^ (hash >> 32);
  }
  static uint64_t mixed(uint64_t hash, const char* bytes, size_t count) {
    uint64_t piece = 0;
    std::memcpy(&piece, bytes, count);
    hash = (hash ^ piece) * 0xbf58476d1ce4e5b9ULL;
    return hash ^ (hash >> 29);
  }
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  void grow();

  std::vector<Slot> slots_;  // size is a power of two, more than twice the words
  std::vector<size_t> ends_;  // of each word in text_
  std::vector<char> text_;
};

}  // namespace argosy::data
