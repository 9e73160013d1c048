#include "argosy/engine/program/row_adder.h"

#include <ATen/ATen.h>

namespace argosy::engine {
namespace {

struct Occurrences {
  at::Tensor ids, rows;  // [n], [n, width]
  at::Tensor keep;       // [n] boolean: not the padding id; undefined: there is none
};

at::Tensor spread_over_rows(const LookupGradient::Piece& piece, at::Tensor rows) {
  if (piece.lod == nullptr) return rows;
  const std::vector<int64_t>& offsets = piece.lod->back();
  const at::Tensor numbers = sequence_numbers(offsets, rows.device());
  if (!numbers.defined()) return rows;
  if (piece.average) {
    std::vector<float> scales;
    for (size_t i = 0; i + 1 < offsets.size(); ++i)
      scales.push_back(1.0f / static_cast<float>(std::max<int64_t>(offsets[i + 1] - offsets[i], 1)));
    rows = rows * at::tensor(scales).to(rows.device()).unsqueeze(1);
  }
  return rows.index_select(0, numbers);
}

Occurrences occurrences(const LookupGradient& gradient) {
  std::vector<at::Tensor> ids, rows, keep;
  bool padded = false;
  for (const LookupGradient::Piece& piece : gradient.pieces) {
    const at::Tensor columns = piece.gradient.reshape({-1, piece.gradient.size(-1)}).narrow(1, piece.column, gradient.width);
    ids.push_back(piece.ids.flatten());
    rows.push_back(spread_over_rows(piece, columns));
    padded = padded || piece.skip_id >= 0;
    keep.push_back(ids.back() != piece.skip_id);
  }
  Occurrences all{.ids = at::cat(ids), .rows = at::cat(rows)};
  if (gradient.scale != 1.0f) all.rows = all.rows * gradient.scale;
  if (padded) all.keep = at::cat(keep);
  return all;
}

}  // namespace

at::Tensor SummedRows::totals() const { return sums.index_select(0, leader); }

at::Tensor SummedRows::is_leader() const { return (leader == at::arange(leader.numel(), leader.options())).unsqueeze(1); }

LookupGradient SummedRows::as_gradient(const LookupGradient& of) const {
  LookupGradient merged{.height = of.height, .width = of.width};
  // Where all was padding, its rows stay without gradient as a padding of their own.
  merged.pieces.push_back(
      {.ids = any.defined() ? at::where(any, ids, of.height) : ids, .gradient = sums, .skip_id = any.defined() ? of.height : -1});
  return merged;
}

// Each occurrence of a row writes its place; one of them stays, and all of the row's gradients are added there.
SummedRows RowAdder::add_up(const LookupGradient& gradient) {
  if (gradient.pieces.empty()) return {};
  Occurrences all = occurrences(gradient);
  SummedRows sums;
  if (all.keep.defined()) {  // a padding stands for another row of the batch, and adds nothing to it
    const at::Tensor other = all.ids.index_select(0, all.keep.to(at::kByte).argmax().unsqueeze(0));
    all.ids = at::where(all.keep, all.ids, other).clamp(0, gradient.height - 1);
    all.rows = at::where(all.keep.unsqueeze(1), all.rows, 0);
    sums.any = all.keep.any();
  }
  if (!places_.defined() || places_.numel() != gradient.height || places_.device() != all.ids.device())
    places_ = at::empty({gradient.height}, all.ids.options());
  places_.index_put_({all.ids}, at::arange(all.ids.numel(), all.ids.options()));
  sums.leader = places_.index_select(0, all.ids);
  sums.sums = at::zeros_like(all.rows).index_add_(0, sums.leader, all.rows);
  sums.ids = std::move(all.ids);
  return sums;
}

at::Tensor sequence_numbers(const std::vector<int64_t>& offsets, const c10::Device& device) {
  std::vector<int64_t> numbers;
  numbers.reserve(static_cast<size_t>(offsets.back()));
  bool each_one = offsets.back() == static_cast<int64_t>(offsets.size()) - 1;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    each_one = each_one && offsets[i + 1] - offsets[i] == 1;
    numbers.insert(numbers.end(), static_cast<size_t>(offsets[i + 1] - offsets[i]), static_cast<int64_t>(i));
  }
  return each_one ? at::Tensor() : at::tensor(numbers, at::kLong).to(device);
}

}  // namespace argosy::engine
