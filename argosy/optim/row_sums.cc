#include "argosy/optim/row_sums.h"

#include "argosy/base/check.h"

namespace argosy::optim {

namespace {
constexpr size_t kPrefetchRows = 8;
}

void RowSums::begin(size_t width, size_t rows) {
  ARGOSY_CHECK(width > 0, "a row has at least one value");
  width_ = width;
  index_.reset(rows);
  if (values_.size() < rows * width) values_.resize(rows * width);
}

void RowSums::add(std::span<const uint64_t> keys, const float* values, float scale) {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i + kPrefetchRows < keys.size()) index_.prefetch(keys[i + kPrefetchRows]);
    float* sum = row(slot_of(keys[i]));
    const float* value = values + i * width_;
    for (size_t k = 0; k < width_; ++k) sum[k] += value[k] * scale;
  }
}

}  // namespace argosy::optim
