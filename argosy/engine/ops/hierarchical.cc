// A loss over many classes along the path to one of them in a binary tree.
#include <ATen/ATen.h>

#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

constexpr double kLargestProduct = 40.0;  // products are taken as no further from 0

// The way from a leaf up to the root: rows of the weight, the side that each is left by, and which of them are on the path.
struct TreePath {
  at::Tensor rows, sides, on_path;
};

TreePath complete_tree(const OpContext& op) {
  const int64_t classes = op.attr<int32_t>("num_classes");
  const at::Tensor label = op.tensor("Label").reshape({-1, 1}).to(at::kLong);
  if (classes < 2) op.fail("attribute 'num_classes' is {}, expected 2 or more", classes);
  if (label.numel() > 0 && (label.min().item<int64_t>() < 0 || label.max().item<int64_t>() >= classes)) {
    op.fail("labels '{}' are from {} to {}, expected 0 to {}", op.input_name("Label"), label.min().item<int64_t>(),
            label.max().item<int64_t>(), classes - 1);
  }
  int64_t depth = 0;
  while ((int64_t{1} << depth) < classes) ++depth;
  const at::Tensor leaf = label + classes, bits = at::arange(depth, label.options());
  const at::Tensor rows = at::bitwise_right_shift(leaf, bits + 1) - 1;
  return {rows, at::bitwise_and(at::bitwise_right_shift(leaf, bits), 1), rows >= 0};
}

// A path that is given ends at its first row below 0.
TreePath own_tree(const OpContext& op) {
  const at::Tensor rows = op.tensor("PathTable").to(at::kLong);
  return {rows, op.tensor("PathCode").to(at::kLong), at::cumprod((rows >= 0).to(at::kLong), 1).to(at::kBool)};
}

ARGOSY_OP("hierarchical_sigmoid",
          [](const OpContext& op) {
            const TreePath path = op.has_input("PathTable") ? own_tree(op) : complete_tree(op);
            const at::Tensor& x = op.tensor("X");
            const at::Tensor sample = path.on_path.nonzero().select(1, 0);
            const at::Tensor chosen = path.rows.masked_select(path.on_path);
            at::Tensor product = (op.tensor("W").index_select(0, chosen) * x.index_select(0, sample)).sum(-1);
            if (op.has_input("Bias")) product = product + op.tensor("Bias").reshape({-1}).index_select(0, chosen);
            product = product +
                      (product.clamp(-kLargestProduct, kLargestProduct) - product).detach();  // the gradient goes on beyond it
            const at::Tensor decisions =
                at::zeros(path.on_path.sizes(), x.options().requires_grad(false)).masked_scatter(path.on_path, product);
            const at::Tensor losses =
                at::softplus(decisions, 1, 2 * kLargestProduct) - path.sides.to(x.scalar_type()) * decisions;
            op.set_output("Out", losses.sum(1, true));
            op.set_output("PreOut", decisions);
          })
    .doc("The sum of the logistic losses of the decisions on the path to each label in a tree of classes.")
    .input("X", "[batch, size]")
    .input("W", "a row per inner node")
    .input("Label", "[batch, 1], int64")
    .optional_input("PathTable", "the rows on the way to each label, of a tree of one's own; below 0 behind its end")
    .optional_input("PathCode", "the side that each is left by")
    .optional_input("Bias", "one value per inner node")
    .output("Out", "[batch, 1]")
    .optional_output("PreOut", "the products")
    .optional_output("W_Out", "not made")
    .attr("num_classes", 2, "how many classes")
    .attr("is_sparse", false, "no effect here: the gradient of W is dense")
    .infer_shape([](graph::ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      const int64_t batch = x.shape.empty() ? -1 : x.shape[0];
      context.set_output("Out", {batch, 1}, x.dtype);
      context.set_output("PreOut", {batch, -1}, x.dtype);
      return {};
    });

}  // namespace
}  // namespace argosy::engine
