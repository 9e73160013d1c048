#include "argosy/table/cold_rows.h"

#include <cstring>

namespace argosy::table {

void ColdRows::clear(size_t keys) {
  keys_.clear();
  which_.clear();
  places_.assign(keys, kNone);
}

void ColdRows::want(size_t i, uint64_t key) {
  keys_.push_back(key);
  which_.push_back(i);
}

Status ColdRows::read(const ColdStore& store, uint32_t shard, size_t row_bytes) {
  const size_t words = row_bytes / sizeof(float);
  rows_.resize(keys_.size() * words);
  return store.get(shard, keys_, [&](size_t i, const void* bytes) {
    places_[which_[i]] = i * words;
    std::memcpy(rows_.data() + i * words, bytes, row_bytes);
  });
}

}  // namespace argosy::table
