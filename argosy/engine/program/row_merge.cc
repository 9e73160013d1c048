#include "argosy/engine/program/row_merge.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace argosy::engine {

namespace {

// A single piece whose rows are all different, and lie one after another.
bool has_each_row_once(const LookupGradient& gradient) {
  if (gradient.pieces.size() != 1 || gradient.scale != 1.0f) return false;
  const LookupGradient::Piece& piece = gradient.pieces[0];
  return piece.unique && piece.lod == nullptr && piece.skip_id < 0 && piece.column == 0 && piece.gradient.is_contiguous() &&
         piece.gradient.size(-1) == gradient.width;
}

}  // namespace

std::span<const int64_t> RowMerger::index() const {
  if (unmerged_.defined()) return {unmerged_ids_.const_data_ptr<int64_t>(), static_cast<size_t>(unmerged_ids_.numel())};
  if (by_place_) return ids_;
  const auto keys = rows_.keys();
  return {reinterpret_cast<const int64_t*>(keys.data()), keys.size()};
}

void RowMerger::add_row(int64_t id, const float* gradient, int64_t width, float scale) {
  const size_t known = by_place_ ? ids_.size() : rows_.size();
  const uint32_t number = number_of(id);
  float* sum = sums_.data() + static_cast<int64_t>(number) * width;
  if (number == known) {
    for (int64_t k = 0; k < width; ++k) sum[k] = gradient[k] * scale;
    return;
  }
  for (int64_t k = 0; k < width; ++k) sum[k] += gradient[k] * scale;
}

void RowMerger::add_piece(const LookupGradient::Piece& piece, int64_t width, float scale) {
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

void RowMerger::add_up(const LookupGradient& gradient, std::span<const float> values, std::vector<float>& sums) {
  sums.assign(index().size(), 0.0f);
  const bool in_place = unmerged_.defined();  // one lookup, whose rows stand where its ids do
  for (const auto& piece : gradient.pieces) {
    const int64_t* ids = piece.ids.const_data_ptr<int64_t>();
    const LodPtr& bounds = piece.lod != nullptr ? piece.lod : piece.samples;
    const int64_t each = values.empty() ? 0 : piece.ids.numel() / static_cast<int64_t>(values.size());
    for (size_t sample = 0; sample < values.size(); ++sample) {
      const int64_t begin = bounds == nullptr ? static_cast<int64_t>(sample) * each : bounds->back()[sample];
      const int64_t end = bounds == nullptr ? begin + each : bounds->back()[sample + 1];
      for (int64_t i = begin; i < end; ++i) {
        if (ids[i] != piece.skip_id) sums[in_place ? static_cast<size_t>(i) : number_of(ids[i])] += values[sample];
      }
    }
  }
}

void RowMerger::merge(const LookupGradient& gradient) {
  unmerged_ = unmerged_ids_ = at::Tensor();
  if (has_each_row_once(gradient)) {
    unmerged_ = gradient.pieces[0].gradient;
    unmerged_ids_ = gradient.pieces[0].ids;
    return;
  }
  int64_t total = 0;
  for (const auto& piece : gradient.pieces) total += piece.ids.numel();
  by_place_ = gradient.height <= 2 * total;
  if (by_place_) {
    numbers_.assign(static_cast<size_t>(gradient.height), kNone);
    ids_.clear();
  } else {
    rows_.reset(static_cast<size_t>(total));
  }
  if (sums_.size() < static_cast<size_t>(total * gradient.width)) sums_.resize(static_cast<size_t>(total * gradient.width));
  for (const auto& piece : gradient.pieces) add_piece(piece, gradient.width, gradient.scale);
}

}  // namespace argosy::engine
