// Products of vectors and matrices, alone or in batches. The product of fc layers is in matmul.cc.
#include <ATen/ATen.h>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;
using Shape = std::vector<int64_t>;

at::Tensor turned(const at::Tensor& x, bool transpose) { return transpose && x.dim() > 1 ? x.transpose(-1, -2) : x; }

// x @ y. With ExecutorOptions::bfloat16_matmul that of a parameter is a narrow one, as in fc layers (matmul.cc).
at::Tensor product(const OpContext& op, const at::Tensor& x, const at::Tensor& y) {
  const bool narrow = op.bfloat16_matmul() && x.scalar_type() == at::kFloat && y.scalar_type() == at::kFloat &&
                      (op.is_parameter("X") || op.is_parameter("Y"));
  return narrow ? at::matmul(x.to(at::kBFloat16), y.to(at::kBFloat16)).to(at::kFloat) : at::matmul(x, y);
}

at::Tensor at_least_one_dimension(at::Tensor x) { return x.dim() == 0 ? x.reshape({1}) : std::move(x); }

Shape turned(Shape shape, bool transpose) {
  if (transpose && shape.size() > 1) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

std::string operands_text(const graph::VarDesc& x, const graph::VarDesc& y) {
  return fmt::format("variable '{}' {} and variable '{}' {}", x.name, graph::shape_to_string(x.shape), y.name,
                     graph::shape_to_string(y.shape));
}

// A vector on the left is a row, one on the right is a column; the dimension that this adds is not in the result.
Status infer_matmul(ShapeContext& context, bool transpose_x, bool transpose_y) {
  const auto &x = context.input("X"), &y = context.input("Y");
  if (x.shape.empty() || y.shape.empty()) return Status::invalid_argument("{} cannot be multiplied", operands_text(x, y));
  const Shape left = turned(x.shape, transpose_x), right = turned(y.shape, transpose_y);
  const int64_t inner_x = left.back(), inner_y = right.size() > 1 ? right[right.size() - 2] : right[0];
  if (inner_x >= 0 && inner_y >= 0 && inner_x != inner_y) {
    return Status::invalid_argument("{} cannot be multiplied: {} columns against {} rows", operands_text(x, y), inner_x, inner_y);
  }
  const Shape batch_x(left.begin(), left.end() - static_cast<std::ptrdiff_t>(std::min<size_t>(2, left.size())));
  const Shape batch_y(right.begin(), right.end() - static_cast<std::ptrdiff_t>(std::min<size_t>(2, right.size())));
  ASSIGN_OR_RETURN(Shape shape, graph::broadcast_shape(batch_x, batch_y, -1));
  if (left.size() > 1) shape.push_back(left[left.size() - 2]);
  if (right.size() > 1) shape.push_back(right.back());
  if (shape.empty()) shape = {1};
  context.set_output("Out", std::move(shape), x.dtype, x.lod_level);
  return {};
}

ARGOSY_OP("matmul",
          [](const OpContext& op) {
            const at::Tensor x = turned(op.tensor("X"), op.attr<bool>("transpose_X")),
                             y = turned(op.tensor("Y"), op.attr<bool>("transpose_Y"));
            at::Tensor out = at_least_one_dimension(product(op, x, y));
            const double alpha = op.attr<float>("alpha");
            op.set_output("Out", alpha == 1.0 ? std::move(out) : out * alpha, op.input("X").lod);
          })
    .doc("The product of matrices or vectors; more dimensions are batches.")
    .input("X", "left; a vector is a row")
    .input("Y", "right; a vector is a column")
    .output("Out", "the product; [1] of two vectors")
    .attr("transpose_X", false, "swap the last two dimensions of X")
    .attr("transpose_Y", false, "swap the last two dimensions of Y")
    .attr("alpha", 1.0f, "a factor on the product")
    .infer_shape([](ShapeContext& context) {
      return infer_matmul(context, context.attribute<bool>("transpose_X"), context.attribute<bool>("transpose_Y"));
    })
    .function({.signature = "matmul(x, y, transpose_x=False, transpose_y=False, alpha=1.0, name=None)",
               .targets = {{"transpose_x", "transpose_X"}, {"transpose_y", "transpose_Y"}},
               .options = "MatmulOptions"});

ARGOSY_OP("matmul_v2",
          [](const OpContext& op) {
            const at::Tensor x = turned(op.tensor("X"), op.attr<bool>("trans_x")),
                             y = turned(op.tensor("Y"), op.attr<bool>("trans_y"));
            op.set_output("Out", at_least_one_dimension(product(op, x, y)), op.input("X").lod);
          })
    .doc("The product of matrices or vectors; more dimensions are batches.")
    .input("X", "left; a vector is a row")
    .input("Y", "right; a vector is a column")
    .output("Out", "the product; [1] of two vectors")
    .attr("trans_x", false, "swap the last two dimensions of X")
    .attr("trans_y", false, "swap the last two dimensions of Y")
    .infer_shape([](ShapeContext& context) {
      return infer_matmul(context, context.attribute<bool>("trans_x"), context.attribute<bool>("trans_y"));
    });

ARGOSY_OP("bmm", [](const OpContext& op) { op.set_output("Out", at::bmm(op.tensor("X"), op.tensor("Y")), op.input("X").lod); })
    .doc("The products of two batches of matrices.")
    .input("X", "[batch, n, m]")
    .input("Y", "[batch, m, k]")
    .output("Out", "[batch, n, k]")
    .infer_shape([](ShapeContext& context) { return infer_matmul(context, false, false); })
    .function({.signature = "bmm(x, y, name=None)"});

ARGOSY_OP("dot",
          [](const OpContext& op) {
            op.set_output("Out", at::mul(op.tensor("X"), op.tensor("Y")).sum(-1, true), op.input("X").lod);
          })
    .doc("The inner products along the last dimension.")
    .input("X", "vectors")
    .input("Y", "like X")
    .output("Out", "like X, with a last dimension of 1")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto &x = context.input("X"), &y = context.input("Y");
      if (x.shape.empty() || x.shape.size() != y.shape.size())
        return Status::invalid_argument("{} have different dimensions", operands_text(x, y));
      Shape shape = x.shape;
      shape.back() = 1;
      context.set_output("Out", std::move(shape), x.dtype, x.lod_level);
      return {};
    })
    .function({.signature = "dot(x, y, name=None)"});

}  // namespace
}  // namespace argosy::engine
