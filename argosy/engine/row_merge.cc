#include "argosy/engine/row_merge.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>

#include "argosy/base/random.h"

namespace argosy::engine {

void RowMerger::reserve(size_t ids) {
  const size_t wanted = std::bit_ceil(std::max<size_t>(2 * ids, 64));
  if (entries_.size() < wanted) {
    entries_.assign(wanted, Entry{0, 0, 0});
    epoch_ = 0;
  }
  if (++epoch_ == 0) {  // the counter has come round: old marks would look current
    std::fill(entries_.begin(), entries_.end(), Entry{0, 0, 0});
    epoch_ = 1;
  }
  unique_.clear();
  unique_.reserve(ids);
}

void RowMerger::add_row(int64_t id, const float* gradient, int64_t width, float scale) {
  const size_t mask = entries_.size() - 1;
  size_t at = static_cast<size_t>(static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15ULL >> 20) & mask;
  while (entries_[at].epoch == epoch_ && entries_[at].id != id) at = (at + 1) & mask;
  Entry& entry = entries_[at];
  if (entry.epoch != epoch_) {
    entry = {id, epoch_, static_cast<uint32_t>(unique_.size())};
    float* sum = sums_.data() + static_cast<int64_t>(unique_.size()) * width;
    unique_.push_back(id);
    for (int64_t k = 0; k < width; ++k) sum[k] = gradient[k] * scale;
    return;
  }
  float* sum = sums_.data() + static_cast<int64_t>(entry.slot) * width;
  for (int64_t k = 0; k < width; ++k) sum[k] += gradient[k] * scale;
}

void RowMerger::add_piece(const RowGradient::Piece& piece, int64_t width, float scale) {
  const int64_t* ids = piece.ids.const_data_ptr<int64_t>();
  const int64_t stride = piece.gradient.size(-1);
  const float* gradient = piece.gradient.const_data_ptr<float>() + piece.column;
  if (piece.lod == nullptr) {
    for (int64_t i = 0; i < piece.ids.numel(); ++i) {
      if (ids[i] != piece.skip_id) add_row(ids[i], gradient + i * stride, width, scale);
    }
    return;
  }
  const auto& offsets = piece.lod->back();
  for (size_t sample = 0; sample + 1 < offsets.size(); ++sample) {
    const int64_t length = offsets[sample + 1] - offsets[sample];
    const float sample_scale = piece.average && length > 1 ? scale / static_cast<float>(length) : scale;
    for (int64_t i = offsets[sample]; i < offsets[sample + 1]; ++i) {
      if (ids[i] != piece.skip_id) add_row(ids[i], gradient + static_cast<int64_t>(sample) * stride, width, sample_scale);
    }
  }
}

void RowMerger::merge(const RowGradient& gradient) {
  int64_t total = 0;
  for (const auto& piece : gradient.pieces) total += piece.ids.numel();
  reserve(static_cast<size_t>(total));
  if (sums_.size() < static_cast<size_t>(total * gradient.width)) sums_.resize(static_cast<size_t>(total * gradient.width));
  for (const auto& piece : gradient.pieces) add_piece(piece, gradient.width, gradient.scale);
}

}  // namespace argosy::engine
