// Cross entropy of probabilities or of logits, with labels as class numbers or as distributions.
#include <ATen/ATen.h>

#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

constexpr double kLargestLog = 1e20;  // what Paddle puts for an infinite logarithm

// log(x), with a finite value and no gradient where x is zero.
at::Tensor tolerant_log(const at::Tensor& x) {
  const at::Tensor gone = x <= 0;
  return at::log(x.masked_fill(gone, 1)).masked_fill(gone, -kLargestLog);
}

// Labels as [..., 1] int64 beside a [..., classes] tensor; each must be a class or `ignored`.
at::Tensor class_labels(const OpContext& op, const at::Tensor& label, int64_t classes, int64_t ignored) {
  if (label.scalar_type() != at::kLong && label.scalar_type() != at::kInt) {
    op.fail("label '{}' holds {}, expected int64 class numbers (or soft_label=True)", op.input_name("Label"),
            c10::toString(label.scalar_type()));
  }
  op.check_on_cpu("Label", 0, [op, classes, ignored](const at::Tensor& given) {
    const at::Tensor seen = given.to(at::kLong).contiguous();
    const int64_t* data = seen.const_data_ptr<int64_t>();
    for (int64_t i = 0; i < seen.numel(); ++i) {
      if ((data[i] < 0 || data[i] >= classes) && data[i] != ignored)
        op.fail("label '{}': class {} at position {} is outside the {} classes", op.input_name("Label"), data[i], i, classes);
    }
  });
  return label.to(at::kLong).contiguous();
}

at::Tensor with_class_dim(const OpContext& op, const at::Tensor& label, const at::Tensor& x, int64_t axis) {
  const at::Tensor aligned = label.dim() == x.dim() ? label : label.unsqueeze(axis);
  std::vector<int64_t> expected = x.sizes().vec();
  expected[static_cast<size_t>(axis)] = 1;
  if (aligned.sizes() != at::IntArrayRef(expected)) {
    op.fail("label '{}' has shape {}, expected {}", op.input_name("Label"), graph::shape_to_string(label.sizes().vec()),
            graph::shape_to_string(expected));
  }
  return aligned;
}

void check_soft_label(const OpContext& op, const at::Tensor& label, const at::Tensor& x) {
  if (label.sizes() != x.sizes()) {
    op.fail("label '{}' has shape {}, expected that of the scores, {}", op.input_name("Label"),
            graph::shape_to_string(label.sizes().vec()), graph::shape_to_string(x.sizes().vec()));
  }
}

void hard_cross_entropy(const OpContext& op) {
  const Value& x = op.input("X");
  const int64_t ignored = op.attr<int32_t>("ignore_index"), axis = x.tensor.dim() - 1;
  const at::Tensor label = with_class_dim(op, class_labels(op, op.tensor("Label"), x.tensor.size(axis), ignored), x.tensor, axis);
  const at::Tensor skipped = label == ignored;
  const at::Tensor match = x.tensor.gather(axis, label.masked_fill(skipped, 0)).masked_fill(skipped, 1);
  op.set_output("Y", at::neg(tolerant_log(match)).reshape(op.tensor("Label").sizes()), x.lod);
  op.set_output("MatchX", match.detach());
}

void soft_cross_entropy(const OpContext& op) {
  const Value& x = op.input("X");
  check_soft_label(op, op.tensor("Label"), x.tensor);
  const at::Tensor logs = tolerant_log(x.tensor);
  op.set_output("Y", at::neg((op.tensor("Label") * logs).sum(-1, true)), x.lod);
}

Status infer_cross_entropy(graph::ShapeContext& context) {
  const auto &x = context.input("X"), &label = context.input("Label");
  std::vector<int64_t> shape = label.shape;
  if (x.shape.empty() || (label.shape.size() != x.shape.size() && label.shape.size() + 1 != x.shape.size())) {
    return Status::invalid_argument("label '{}' {} does not fit '{}' {}", label.name, graph::shape_to_string(label.shape), x.name,
                                    graph::shape_to_string(x.shape));
  }
  const bool soft = context.attribute<bool>("soft_label");
  if (label.shape.size() == x.shape.size()) {
    if (!soft && shape.back() != 1) {
      return Status::invalid_argument("label '{}' has shape {}; the last dimension must be 1 unless soft_label is set",
                                      label.name, graph::shape_to_string(label.shape));
    }
    shape.back() = 1;
  }
  context.set_output("Y", shape, x.dtype, x.lod_level);
  context.set_output("MatchX", shape, x.dtype, x.lod_level);
  std::vector<int64_t> remembered = x.shape;
  remembered.push_back(0);
  context.set_output("XShape", std::move(remembered), x.dtype);
  return {};
}

ARGOSY_OP("cross_entropy2", hard_cross_entropy)
    .doc("-log of the probability of the label's class.")
    .input("X", "probabilities, [..., classes]")
    .input("Label", "class numbers, [..., 1]")
    .output("Y", "the loss, [..., 1]")
    .optional_output("MatchX", "the probability of the label's class")
    .optional_output("XShape", "not made")
    .attr("ignore_index", -100, "rows with this label have no loss")
    .infer_shape(infer_cross_entropy);

ARGOSY_OP("cross_entropy",
          [](const OpContext& op) { op.attr<bool>("soft_label") ? soft_cross_entropy(op) : hard_cross_entropy(op); })
    .doc("-log of the probability of the label's class, or its mean over a distribution of labels.")
    .input("X", "probabilities, [..., classes]")
    .input("Label", "class numbers, [..., 1], or a distribution like X")
    .output("Y", "the loss, [..., 1]")
    .attr("soft_label", false, "the label is a distribution")
    .attr("ignore_index", -100, "rows with this label have no loss")
    .infer_shape(infer_cross_entropy);

at::Tensor loss_of_logits(const OpContext& op, const at::Tensor& log_softmax, int64_t axis) {
  const at::Tensor& label = op.tensor("Label");
  if (op.attr<bool>("soft_label")) {
    check_soft_label(op, label, log_softmax);
    return at::neg((label * log_softmax).sum(axis, true));
  }
  const int64_t ignored = op.attr<int32_t>("ignore_index");
  const at::Tensor classes = with_class_dim(op, class_labels(op, label, log_softmax.size(axis), ignored), log_softmax, axis);
  const at::Tensor skipped = classes == ignored;
  return at::neg(log_softmax.gather(axis, classes.masked_fill(skipped, 0))).masked_fill(skipped, 0);
}

int64_t positive_axis(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

Status infer_with_softmax(graph::ShapeContext& context) {
  const auto& logits = context.input("Logits");
  const auto rank = static_cast<int64_t>(logits.shape.size());
  const int64_t axis = positive_axis(context.attribute<int32_t>("axis"), rank);
  if (axis < 0 || axis >= rank) {
    return Status::invalid_argument("axis {} is outside '{}' {}", context.attribute<int32_t>("axis"), logits.name,
                                    graph::shape_to_string(logits.shape));
  }
  context.set_output_like("Softmax", logits);
  std::vector<int64_t> shape = logits.shape;
  shape[static_cast<size_t>(axis)] = 1;
  context.set_output("Loss", std::move(shape), logits.dtype, logits.lod_level);
  return {};
}

ARGOSY_OP("softmax_with_cross_entropy",
          [](const OpContext& op) {
            const Value& logits = op.input("Logits");
            const int64_t axis = positive_axis(op.attr<int32_t>("axis"), logits.tensor.dim());
            const at::Tensor log_softmax = at::log_softmax(logits.tensor, axis);
            op.set_output("Loss", loss_of_logits(op, log_softmax, axis), logits.lod);
            if (op.is_read("Softmax")) op.set_output("Softmax", at::exp(log_softmax), logits.lod);
          })
    .doc("softmax and cross entropy in one, stable for large logits.")
    .input("Logits", "scores, one for each class along axis")
    .input("Label", "class numbers with 1 along axis, or a distribution like Logits")
    .output("Softmax", "the probabilities")
    .output("Loss", "the loss, with 1 along axis")
    .attr("soft_label", false, "the label is a distribution")
    .attr("ignore_index", -100, "positions with this label have no loss")
    .attr("numeric_stable_mode", true, "no effect: the computation is always the stable one")
    .attr("axis", -1, "the dimension of the classes")
    .infer_shape(infer_with_softmax)
    .function(
        {.signature = "softmax_with_cross_entropy(logits, label, soft_label=False, ignore_index=-100, numeric_stable_mode=True, "
                      "return_softmax=False, axis=-1)",
         .targets = {{"return_softmax", "+Softmax"}},
         .returns = {"Loss", "Softmax"},
         .options = "SoftmaxWithCrossEntropyOptions",
         .result = "SoftmaxWithCrossEntropy"});

}  // namespace
}  // namespace argosy::engine
