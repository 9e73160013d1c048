#include "argosy/base/key_index.h"

#include <algorithm>
#include <bit>

namespace argosy {

void KeyIndex::grow(size_t keys) {
  entries_.assign(std::bit_ceil(std::max<size_t>(2 * keys, 64)), Entry{0, 0, 0});
  epoch_ = 1;
  for (size_t number = 0; number < keys_.size(); ++number) {
    size_t at = slot_of(keys_[number]);
    while (entries_[at].epoch == epoch_) at = (at + 1) & (entries_.size() - 1);
    entries_[at] = {keys_[number], epoch_, static_cast<uint32_t>(number)};
  }
}

void KeyIndex::reset(size_t additions) {
  keys_.clear();
  keys_.reserve(additions);
  if (entries_.size() < 2 * additions || entries_.empty()) return grow(additions);
  if (++epoch_ == 0) {  // the counter has come round: old marks would look current
    std::fill(entries_.begin(), entries_.end(), Entry{0, 0, 0});
    epoch_ = 1;
  }
}

void KeyIndex::reserve_more(size_t additions) {
  const size_t keys = keys_.size() + additions;
  keys_.reserve(keys);
  if (entries_.size() < 2 * keys || entries_.empty()) grow(keys);
}

}  // namespace argosy
