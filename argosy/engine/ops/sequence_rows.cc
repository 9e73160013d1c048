#include "argosy/engine/ops/sequence_rows.h"

#include <ATen/ATen.h>

namespace argosy::engine {
namespace {

at::Tensor as_index(const std::vector<int64_t>& rows, const c10::Device& device) {
  return at::tensor(rows, at::kLong).to(device);
}

}  // namespace

at::Tensor take_rows(const at::Tensor& x, const std::vector<int64_t>& rows) {
  return at::index_select(x, 0, as_index(rows, x.device()));
}

at::Tensor take_rows_or(const at::Tensor& x, const std::vector<int64_t>& rows, const at::Tensor& filling) {
  std::vector<int64_t> index = rows;
  for (int64_t& row : index) {
    if (row == kNoRow) row = x.size(0);
  }
  return at::index_select(at::cat({x, filling.unsqueeze(0)}), 0, as_index(index, x.device()));
}

LodPtr one_level(std::vector<int64_t> offsets) { return std::make_shared<const Lod>(Lod{std::move(offsets)}); }

const std::vector<int64_t>& checked_offsets(const OpContext& op, std::string_view slot, size_t index) {
  const auto& offsets = op.offsets(slot, index);
  const int64_t rows = op.tensor(slot, index).size(0);
  if (offsets.back() != rows)
    op.fail("the sequences of '{}' end at row {}, but it has {} rows", op.input_name(slot, index), offsets.back(), rows);
  return offsets;
}

}  // namespace argosy::engine
