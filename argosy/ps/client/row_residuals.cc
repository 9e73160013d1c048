#include "argosy/ps/client/row_residuals.h"

#include <algorithm>

namespace argosy::ps {

const float* RowResiduals::find(uint64_t key) const {
  for (const Generation* generation : {&young_, &old_}) {
    const auto found = generation->places.find(key);
    if (found != generation->places.end()) return generation->rows.data() + found->second * width_;
  }
  return nullptr;
}

void RowResiduals::add_to(std::span<const uint64_t> keys, std::span<float> rows) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    const float* kept = find(keys[i]);
    if (kept == nullptr) continue;
    for (size_t k = 0; k < width_; ++k) rows[i * width_ + k] += kept[k];
  }
}

void RowResiduals::keep(std::span<const uint64_t> keys, std::span<const float> rows) {
  for (size_t i = 0; i < keys.size(); ++i) std::copy_n(rows.data() + i * width_, width_, place_of(keys[i]));
}

float* RowResiduals::place_of(uint64_t key) {
  const auto known = young_.places.find(key);
  if (known != young_.places.end()) return young_.rows.data() + known->second * width_;
  old_.places.erase(key);
  if (young_.places.size() >= std::max<size_t>(most_rows_ / 2, 1)) {
    dropped_ += old_.places.size();
    std::swap(young_, old_);
    young_.places.clear();
  }
  const size_t place = young_.places.size();
  young_.places.emplace(key, place);
  if (young_.rows.size() < (place + 1) * width_) young_.rows.resize((place + 1) * width_);
  return young_.rows.data() + place * width_;
}

}  // namespace argosy::ps
