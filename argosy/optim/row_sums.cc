#include "argosy/optim/row_sums.h"

#include <algorithm>

#include "argosy/base/check.h"

namespace argosy::optim {

namespace {
constexpr size_t kPrefetchRows = 8;
}

void RowSums::begin(size_t width, size_t rows) {
  ARGOSY_CHECK(width > 0, "a row has at least one value");
  const size_t wanted = std::bit_ceil(std::max<size_t>(2 * rows, 64));
  if (entries_.size() < wanted) {
    entries_.assign(wanted, Entry{0, 0, 0});
    mask_ = wanted - 1;
    shift_ = 64 - std::countr_zero(wanted);
    epoch_ = 0;
  }
  if (++epoch_ == 0) {  // the counter has come round: old marks would look current
    std::fill(entries_.begin(), entries_.end(), Entry{0, 0, 0});
    epoch_ = 1;
  }
  width_ = width;
  keys_.clear();
  keys_.reserve(rows);
  if (values_.size() < rows * width) values_.resize(rows * width);
}

size_t RowSums::insert(size_t at, uint64_t key) {
  ARGOSY_CHECK(keys_.size() * 2 < entries_.size(), "more rows than begin() was told of");
  const size_t slot = keys_.size();
  entries_[at] = {key, epoch_, static_cast<uint32_t>(slot)};
  keys_.push_back(key);
  std::fill_n(row(slot), width_, 0.0f);
  return slot;
}

void RowSums::add(std::span<const uint64_t> keys, const float* values, float scale) {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i + kPrefetchRows < keys.size()) __builtin_prefetch(&entries_[first_probe(keys[i + kPrefetchRows])]);
    float* sum = row(slot_of(keys[i]));
    const float* value = values + i * width_;
    for (size_t k = 0; k < width_; ++k) sum[k] += value[k] * scale;
  }
}

}  // namespace argosy::optim
