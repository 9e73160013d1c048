#include "argosy/data/word_index.h"

namespace argosy::data {

uint32_t WordIndex::add(std::string_view word) {
  if (2 * (ends_.size() + 1) > slots_.size()) grow();
  const uint64_t hash = hash_of(word);
  size_t at = hash & (slots_.size() - 1);
  for (; slots_[at].number != kNone; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].tag == tag_of(hash) && this->word(slots_[at].number) == word) return slots_[at].number;
  }
  slots_[at] = {tag_of(hash), size()};
  text_.insert(text_.end(), word.begin(), word.end());
  ends_.push_back(text_.size());
  return size() - 1;
}

void WordIndex::grow() {
  std::vector<Slot> wider(slots_.size() * 2);
  for (uint32_t number = 0; number < size(); ++number) {
    const uint64_t hash = hash_of(word(number));
    size_t at = hash & (wider.size() - 1);
    while (wider[at].number != kNone) at = (at + 1) & (wider.size() - 1);
    wider[at] = {tag_of(hash), number};
  }
  slots_ = std::move(wider);
}

}  // namespace argosy::data
