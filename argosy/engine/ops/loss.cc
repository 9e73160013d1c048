// Losses that compare values one by one, or pairs of scores.
#include <ATen/ATen.h>

#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;

void check_same_shape(const OpContext& op, std::string_view a, std::string_view b) {
  const at::Tensor &x = op.tensor(a), &y = op.tensor(b);
  if (x.sizes() != y.sizes()) {
    op.fail("'{}' has shape {}, '{}' has {}; they must be the same", op.input_name(a), graph::shape_to_string(x.sizes().vec()),
            op.input_name(b), graph::shape_to_string(y.sizes().vec()));
  }
}

ARGOSY_OP("sigmoid_cross_entropy_with_logits",
          [](const OpContext& op) {
            check_same_shape(op, "X", "Label");
            const Value& x = op.input("X");
            const at::Tensor& label = op.tensor("Label");
            const at::Tensor ignored = label.trunc() == op.attr<int32_t>("ignore_index");
            at::Tensor loss =
                at::binary_cross_entropy_with_logits(x.tensor, label, {}, {}, at::Reduction::None).masked_fill(ignored, 0);
            if (op.attr<bool>("normalize")) loss = loss / at::logical_not(ignored).sum().to(loss.scalar_type()).clamp_min(1e-5);
            op.set_output("Out", std::move(loss), x.lod);
          })
    .doc("The cross entropy of the sigmoid of X, each value a decision of its own.")
    .input("X", "logits")
    .input("Label", "probabilities, like X")
    .output("Out", "like X")
    .attr("ignore_index", -100, "values with this label have no loss")
    .attr("normalize", false, "divide by the number of values that have a loss")
    .infer_shape(graph::same_shape_as_x)
    .function({.signature = "sigmoid_cross_entropy_with_logits(x, label, ignore_index=-100, name=None, normalize=False)",
               .options = "SigmoidCrossEntropyOptions"});

ARGOSY_OP("log_loss",
          [](const OpContext& op) {
            check_same_shape(op, "Predicted", "Labels");
            const at::Tensor &p = op.tensor("Predicted"), &label = op.tensor("Labels");
            const double epsilon = op.attr<float>("epsilon");
            op.set_output("Loss", -label * at::log(p + epsilon) - (1 - label) * at::log(1 - p + epsilon),
                          op.input("Predicted").lod);
          })
    .doc("-y log(p + epsilon) - (1 - y) log(1 - p + epsilon).")
    .input("Predicted", "probabilities")
    .input("Labels", "0 or 1")
    .output("Loss", "like Predicted")
    .attr("epsilon", 1e-4f, "keeps the logarithms finite")
    .infer_shape(graph::same_shape_as("Predicted", "Loss"))
    .function({.signature = "log_loss(input, label, epsilon=0.0001, name=None)",
               .targets = {{"input", "Predicted"}, {"label", "Labels"}}});

ARGOSY_OP("huber_loss",
          [](const OpContext& op) {
            check_same_shape(op, "X", "Y");
            const at::Tensor residual = op.tensor("Y") - op.tensor("X");
            op.set_output("Out", at::huber_loss(residual, at::zeros_like(residual), at::Reduction::None, op.attr<float>("delta")),
                          op.input("X").lod);
            op.set_output("Residual", residual.detach(), op.input("X").lod);
          })
    .doc("Half the squared difference, continued as a line where it is above delta.")
    .input("X", "predictions")
    .input("Y", "labels")
    .output("Out", "the loss")
    .optional_output("Residual", "Y - X")
    .attr("delta", 1.0f, "where the line begins")
    .infer_shape([](ShapeContext& context) {
      context.set_output_like("Out", context.input("X"));
      context.set_output_like("Residual", context.input("X"));
      return Status();
    })
    .function({.signature = "huber_loss(input, label, delta)",
               .targets = {{"input", "X"}, {"label", "Y"}},
               .makes = {"Residual", "Out"}});

ARGOSY_OP("smooth_l1_loss",
          [](const OpContext& op) {
            check_same_shape(op, "X", "Y");
            const Value& x = op.input("X");
            const double squared = static_cast<double>(op.attr<float>("sigma")) * op.attr<float>("sigma");
            at::Tensor difference = x.tensor - op.tensor("Y");
            if (op.has_input("InsideWeight")) difference = difference * op.tensor("InsideWeight");
            at::Tensor loss = at::smooth_l1_loss(difference, at::zeros_like(difference), at::Reduction::None, 1 / squared);
            if (op.has_input("OutsideWeight")) loss = loss * op.tensor("OutsideWeight");
            op.set_output("Out", loss.reshape({loss.size(0), -1}).sum(1, true), x.lod);
            op.set_output("Diff", difference.detach(), x.lod);
          })
    .doc("For each row the sum of |x - y|, rounded off below 1 / sigma^2.")
    .input("X", "predictions")
    .input("Y", "labels")
    .optional_input("InsideWeight", "multiplies the differences")
    .optional_input("OutsideWeight", "multiplies the losses")
    .output("Out", "[rows, 1]")
    .optional_output("Diff", "the weighted differences")
    .attr("sigma", 1.0f, "see above")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      if (x.shape.size() < 2)
        return Status::invalid_argument("'{}' has shape {}, expected at least 2 dimensions", x.name,
                                        graph::shape_to_string(x.shape));
      context.set_output_like("Diff", x);
      context.set_output("Out", {x.shape[0], 1}, x.dtype, x.lod_level);
      return Status();
    })
    .function({.signature = "smooth_l1(x, y, inside_weight=None, outside_weight=None, sigma=None)",
               .targets = {{"inside_weight", "InsideWeight"}, {"outside_weight", "OutsideWeight"}},
               .makes = {"Diff", "Out"},
               .options = "SmoothL1Options"});

bool is_reduction(std::string_view name) { return name == "none" || name == "mean" || name == "sum" || name == "batchmean"; }

ARGOSY_OP("kldiv_loss",
          [](const OpContext& op) {
            check_same_shape(op, "X", "Target");
            const at::Tensor &x = op.tensor("X"), &target = op.tensor("Target");
            const at::Tensor empty = target <= 0;
            const at::Tensor loss = (target * (at::log(target.masked_fill(empty, 1)) - x)).masked_fill(empty, 0);
            const auto& reduction = op.attr<std::string>("reduction");
            if (reduction == "none") return op.set_output("Loss", loss, op.input("X").lod);
            const double count = reduction == "mean"        ? static_cast<double>(loss.numel())
                                 : reduction == "batchmean" ? static_cast<double>(loss.size(0))
                                                            : 1.0;
            op.set_output("Loss", (loss.sum() / count).reshape({1}));
          })
    .doc("target (log target - x), where x is a logarithm of a probability.")
    .input("X", "log-probabilities")
    .input("Target", "probabilities")
    .output("Loss", "like X, or one number")
    .attr("reduction", std::string("mean"), "none | mean | sum | batchmean")
    .infer_shape([](ShapeContext& context) {
      const auto reduction = context.attribute<std::string>("reduction");
      if (!is_reduction(reduction))
        return Status::invalid_argument("reduction '{}' is not known; expected none, mean, sum or batchmean", reduction);
      if (reduction == "none")
        context.set_output_like("Loss", context.input("X"));
      else
        context.set_output("Loss", {1}, context.input("X").dtype);
      return Status();
    })
    .function({.signature = "kldiv_loss(x, target, reduction='mean', name=None)"});

ARGOSY_OP("rank_loss",
          [](const OpContext& op) {
            check_same_shape(op, "Left", "Right");
            check_same_shape(op, "Left", "Label");
            const at::Tensor lead = op.tensor("Left") - op.tensor("Right");
            op.set_output("Out", at::logaddexp(lead, at::zeros_like(lead)) - op.tensor("Label") * lead, op.input("Left").lod);
          })
    .doc("The cross entropy of `left ranks above right` with the sigmoid of the difference of their scores.")
    .input("Label", "1 where left is to rank higher, 0 where right is")
    .input("Left", "scores")
    .input("Right", "scores")
    .output("Out", "like Left")
    .infer_shape(graph::same_shape_as("Left", "Out"))
    .function({.signature = "rank_loss(label, left, right, name=None)"});

ARGOSY_OP("margin_rank_loss",
          [](const OpContext& op) {
            check_same_shape(op, "X1", "X2");
            check_same_shape(op, "X1", "Label");
            const at::Tensor out = at::relu(-op.tensor("Label") * (op.tensor("X1") - op.tensor("X2")) + op.attr<float>("margin"));
            op.set_output("Out", out, op.input("X1").lod);
            if (op.is_read("Activated")) op.set_output("Activated", (out > 0).to(out.scalar_type()), op.input("X1").lod);
          })
    .doc("max(0, -label (x1 - x2) + margin).")
    .input("X1", "scores")
    .input("X2", "scores")
    .input("Label", "1 where x1 is to rank higher, -1 where x2 is")
    .output("Out", "like X1")
    .optional_output("Activated", "1 where there is a loss")
    .attr("margin", 0.0f, "by how much")
    .infer_shape([](ShapeContext& context) {
      context.set_output_like("Out", context.input("X1"));
      context.set_output_like("Activated", context.input("X1"));
      return Status();
    })
    .function({.signature = "margin_rank_loss(label, left, right, margin=0.1, name=None)",
               .targets = {{"left", "X1"}, {"right", "X2"}}});

ARGOSY_OP("bpr_loss",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const at::Tensor& label = op.tensor("Label");
            const int64_t classes = x.tensor.size(-1);
            if (label.dim() != x.tensor.dim() || label.size(-1) != 1)
              op.fail("label '{}' must be [..., 1]", op.input_name("Label"));
            if (classes < 2) op.fail("'{}' has {} scores per row, expected at least 2", op.input_name("X"), classes);
            if (label.numel() > 0 && (label.min().item<int64_t>() < 0 || label.max().item<int64_t>() >= classes)) {
              op.fail("label '{}' has a class outside 0 to {}", op.input_name("Label"), classes - 1);
            }
            const at::Tensor lag = x.tensor - x.tensor.gather(-1, label);
            const at::Tensor losses = at::logaddexp(lag, at::zeros_like(lag)).scatter(-1, label, 0);
            op.set_output("Y", losses.sum(-1, true) / static_cast<double>(classes - 1), x.lod);
          })
    .doc("Bayesian personalised ranking: how far the label's score leads every other one.")
    .input("X", "scores, [..., classes]")
    .input("Label", "the class that is to lead, [..., 1]")
    .output("Y", "[..., 1]")
    .infer_shape([](ShapeContext& context) {
      const auto& x = context.input("X");
      std::vector<int64_t> shape = x.shape;
      if (shape.empty()) return Status::invalid_argument("'{}' has no dimensions", x.name);
      shape.back() = 1;
      context.set_output("Y", std::move(shape), x.dtype, x.lod_level);
      return Status();
    })
    .function({.signature = "bpr_loss(input, label, name=None)", .targets = {{"input", "X"}}});

ARGOSY_OP("label_smooth",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const double epsilon = op.attr<float>("epsilon");
            const at::Tensor kept = x.tensor * (1 - epsilon);
            if (op.has_input("PriorDist"))
              return op.set_output("Out", kept + op.tensor("PriorDist").reshape({-1}) * epsilon, x.lod);
            op.set_output("Out", kept + epsilon / static_cast<double>(x.tensor.size(-1)), x.lod);
          })
    .doc("Labels mixed with a uniform (or the given) distribution.")
    .input("X", "labels as distributions")
    .optional_input("PriorDist", "the distribution, [1, classes]")
    .output("Out", "like X")
    .attr("epsilon", 0.0f, "the part of the mixture")
    .infer_shape(graph::same_shape_as_x);

// A row's length may be zero; the quotient is then zero too.
constexpr double kSmallestProduct = 1e-30;

ARGOSY_OP("cos_sim",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            const at::Tensor a = x.tensor.reshape({x.tensor.size(0), -1}),
                             b = op.tensor("Y").reshape({op.tensor("Y").size(0), -1});
            if (a.size(1) != b.size(1) || (b.size(0) != a.size(0) && b.size(0) != 1)) {
              op.fail("rows of shape {} x {} cannot be compared with {} x {}", a.size(0), a.size(1), b.size(0), b.size(1));
            }
            const at::Tensor a_norm = at::linalg_vector_norm(a, 2, {1}, true), b_norm = at::linalg_vector_norm(b, 2, {1}, true);
            op.set_output("Out", (a * b).sum(1, true) / (a_norm * b_norm).clamp_min(kSmallestProduct), x.lod);
            op.set_output("XNorm", a_norm.detach());
            op.set_output("YNorm", b_norm.detach());
          })
    .doc("The cosine of the angle between rows.")
    .input("X", "rows")
    .input("Y", "as many rows, or one")
    .output("Out", "[rows, 1]")
    .optional_output("XNorm", "lengths of X's rows")
    .optional_output("YNorm", "lengths of Y's rows")
    .infer_shape([](ShapeContext& context) {
      const auto &x = context.input("X"), &y = context.input("Y");
      if (x.shape.size() < 2 || y.shape.size() != x.shape.size()) {
        return Status::invalid_argument("'{}' {} and '{}' {} must have the same number of dimensions, at least 2", x.name,
                                        graph::shape_to_string(x.shape), y.name, graph::shape_to_string(y.shape));
      }
      context.set_output("Out", {x.shape[0], 1}, x.dtype, x.lod_level);
      context.set_output("XNorm", {x.shape[0], 1}, x.dtype);
      context.set_output("YNorm", {y.shape[0], 1}, x.dtype);
      return Status();
    })
    .function({.signature = "cos_sim(X, Y)"});

}  // namespace
}  // namespace argosy::engine
