#include "argosy/engine/program/value.h"

#include <ATen/ATen.h>

#include "argosy/base/check.h"

namespace argosy::engine {

at::ScalarType scalar_type(graph::DType dtype) {
  switch (dtype) {
    case graph::DType::boolean: return at::kBool;
    case graph::DType::int16: return at::kShort;
    case graph::DType::int32: return at::kInt;
    case graph::DType::int64: return at::kLong;
    case graph::DType::float16: return at::kHalf;
    case graph::DType::float32: return at::kFloat;
    case graph::DType::float64: return at::kDouble;
    case graph::DType::uint8: return at::kByte;
    case graph::DType::int8: return at::kChar;
    case graph::DType::bfloat16: return at::kBFloat16;
  }
  check_failed(__FILE__, __LINE__, "known dtype", "");
}

graph::DType dtype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kBool: return graph::DType::boolean;
    case at::kShort: return graph::DType::int16;
    case at::kInt: return graph::DType::int32;
    case at::kLong: return graph::DType::int64;
    case at::kHalf: return graph::DType::float16;
    case at::kFloat: return graph::DType::float32;
    case at::kDouble: return graph::DType::float64;
    case at::kByte: return graph::DType::uint8;
    case at::kChar: return graph::DType::int8;
    case at::kBFloat16: return graph::DType::bfloat16;
    default: check_failed(__FILE__, __LINE__, "an element type of the wire format", c10::toString(tensor.scalar_type()));
  }
}

at::Tensor LookupGradient::to_dense() const {
  if (pieces.empty()) return at::zeros({height, width});
  at::Tensor dense = at::zeros({height, width}, pieces[0].gradient.options().dtype(at::kFloat).requires_grad(false));
  for (const Piece& piece : pieces) {
    at::Tensor rows = piece.gradient.detach().narrow(1, piece.column, width) * scale;
    if (piece.lod != nullptr) {
      const auto& offsets = piece.lod->back();
      std::vector<int64_t> lengths;
      for (size_t i = 0; i + 1 < offsets.size(); ++i) lengths.push_back(offsets[i + 1] - offsets[i]);
      const at::Tensor repeats = at::tensor(lengths, at::kLong).to(rows.device());
      if (piece.average) rows = rows / repeats.clamp_min(1).unsqueeze(1);
      rows = rows.repeat_interleave(repeats, 0);
    }
    at::Tensor keep = piece.ids.flatten();
    if (piece.skip_id >= 0) rows = rows * (keep != piece.skip_id).unsqueeze(1);
    dense.index_add_(0, keep, rows);
  }
  return dense;
}

LookupGradient LookupGradient::on_cpu() const {
  LookupGradient moved = *this;
  for (Piece& piece : moved.pieces) {
    piece.ids = piece.ids.cpu();
    piece.gradient = piece.gradient.cpu();
  }
  return moved;
}

}  // namespace argosy::engine
