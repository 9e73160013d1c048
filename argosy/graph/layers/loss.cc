#include "argosy/graph/layers/loss.h"

#include "argosy/graph/layers/math.h"

namespace argosy::layers {

using graph::LayerHelper;

namespace {

Variable hard_cross_entropy(const Variable& input, const Variable& label, int32_t ignore_index) {
  LayerHelper helper("cross_entropy2", "");
  const Variable out = helper.create_tmp(input.dtype());
  const Variable shape = helper.create_tmp(input.dtype());
  const Variable match = helper.create_tmp(input.dtype());
  helper.append_op({.type = "cross_entropy2",
                    .inputs = {{"X", {input.name()}}, {"Label", {label.name()}}},
                    .outputs = {{"Y", {out.name()}}, {"MatchX", {match.name()}}, {"XShape", {shape.name()}}},
                    .attributes = {{"ignore_index", ignore_index}}});
  return out;
}

}  // namespace

Variable cross_entropy(const Variable& input, const Variable& label, const CrossEntropyOptions& options) {
  if (!options.soft_label) return hard_cross_entropy(input, label, options.ignore_index);
  LayerHelper helper("cross_entropy", "");
  const Variable out = helper.create_tmp(input.dtype());
  helper.append_op({.type = "cross_entropy",
                    .inputs = {{"X", {input.name()}}, {"Label", {label.name()}}},
                    .outputs = {{"Y", {out.name()}}},
                    .attributes = {{"soft_label", true}, {"ignore_index", options.ignore_index}}});
  return out;
}

SoftmaxWithCrossEntropy softmax_with_cross_entropy(const Variable& logits, const Variable& label,
                                                   const SoftmaxWithCrossEntropyOptions& options) {
  LayerHelper helper("softmax_with_cross_entropy", "");
  const Variable softmax = helper.create_tmp(logits.dtype());
  const Variable loss = helper.create_tmp(logits.dtype());
  helper.append_op({.type = "softmax_with_cross_entropy",
                    .inputs = {{"Logits", {logits.name()}}, {"Label", {label.name()}}},
                    .outputs = {{"Softmax", {softmax.name()}}, {"Loss", {loss.name()}}},
                    .attributes = {{"soft_label", options.soft_label},
                                   {"ignore_index", options.ignore_index},
                                   {"numeric_stable_mode", options.numeric_stable_mode},
                                   {"axis", options.axis}}});
  return {.loss = loss, .softmax = softmax};
}

Variable sigmoid_cross_entropy_with_logits(const Variable& x, const Variable& label, const SigmoidCrossEntropyOptions& options) {
  LayerHelper helper("sigmoid_cross_entropy_with_logits", options.name);
  const Variable out = helper.create_tmp(x.dtype());
  helper.append_op({.type = "sigmoid_cross_entropy_with_logits",
                    .inputs = {{"X", {x.name()}}, {"Label", {label.name()}}},
                    .outputs = {{"Out", {out.name()}}},
                    .attributes = {{"ignore_index", options.ignore_index}, {"normalize", options.normalize}}});
  return out;
}

Variable square_error_cost(const Variable& input, const Variable& label) {
  LayerHelper helper("square_error_cost", "");
  const Variable difference = helper.create_tmp(input.dtype());
  helper.append_op({.type = "elementwise_sub",
                    .inputs = {{"X", {input.name()}}, {"Y", {label.name()}}},
                    .outputs = {{"Out", {difference.name()}}}});
  return helper.append_unary("square", difference);
}

Variable mse_loss(const Variable& input, const Variable& label) { return reduce_mean(square_error_cost(input, label)); }

Variable log_loss(const Variable& input, const Variable& label, float epsilon, const std::string& name) {
  LayerHelper helper("log_loss", name);
  const Variable loss = helper.create_tmp(input.dtype());
  helper.append_op({.type = "log_loss",
                    .inputs = {{"Predicted", {input.name()}}, {"Labels", {label.name()}}},
                    .outputs = {{"Loss", {loss.name()}}},
                    .attributes = {{"epsilon", epsilon}}});
  return loss;
}

Variable huber_loss(const Variable& input, const Variable& label, float delta) {
  LayerHelper helper("huber_loss", "");
  const Variable residual = helper.create_tmp(input.dtype());
  const Variable out = helper.create_tmp(input.dtype());
  helper.append_op({.type = "huber_loss",
                    .inputs = {{"X", {input.name()}}, {"Y", {label.name()}}},
                    .outputs = {{"Out", {out.name()}}, {"Residual", {residual.name()}}},
                    .attributes = {{"delta", delta}}});
  return out;
}

Variable smooth_l1(const Variable& x, const Variable& y, const SmoothL1Options& options) {
  LayerHelper helper("smooth_l1_loss", "");
  const Variable difference = helper.create_tmp(x.dtype());
  const Variable loss = helper.create_tmp(x.dtype());
  graph::SlotMap inputs = {{"X", {x.name()}}, {"Y", {y.name()}}};
  if (options.inside_weight) inputs["InsideWeight"] = {options.inside_weight.name()};
  if (options.outside_weight) inputs["OutsideWeight"] = {options.outside_weight.name()};
  helper.append_op({.type = "smooth_l1_loss",
                    .inputs = std::move(inputs),
                    .outputs = {{"Diff", {difference.name()}}, {"Out", {loss.name()}}},
                    .attributes = {{"sigma", options.sigma}}});
  return loss;
}

Variable kldiv_loss(const Variable& x, const Variable& target, const std::string& reduction, const std::string& name) {
  LayerHelper helper("kldiv_loss", name);
  const Variable loss = helper.create_tmp(x.dtype());
  helper.append_op({.type = "kldiv_loss",
                    .inputs = {{"X", {x.name()}}, {"Target", {target.name()}}},
                    .outputs = {{"Loss", {loss.name()}}},
                    .attributes = {{"reduction", reduction}}});
  return loss;
}

Variable rank_loss(const Variable& label, const Variable& left, const Variable& right, const std::string& name) {
  LayerHelper helper("rank_loss", name);
  const Variable out = helper.create_tmp(left.dtype());
  helper.append_op({.type = "rank_loss",
                    .inputs = {{"Label", {label.name()}}, {"Left", {left.name()}}, {"Right", {right.name()}}},
                    .outputs = {{"Out", {out.name()}}}});
  return out;
}

Variable margin_rank_loss(const Variable& label, const Variable& left, const Variable& right, float margin,
                          const std::string& name) {
  LayerHelper helper("margin_rank_loss", name);
  const Variable out = helper.create_tmp(left.dtype());
  const Variable activated = helper.create_tmp(left.dtype());
  helper.append_op({.type = "margin_rank_loss",
                    .inputs = {{"Label", {label.name()}}, {"X1", {left.name()}}, {"X2", {right.name()}}},
                    .outputs = {{"Out", {out.name()}}, {"Activated", {activated.name()}}},
                    .attributes = {{"margin", margin}}});
  return out;
}

Variable bpr_loss(const Variable& input, const Variable& label, const std::string& name) {
  LayerHelper helper("bpr_loss", name);
  const Variable out = helper.create_tmp(input.dtype());
  helper.append_op(
      {.type = "bpr_loss", .inputs = {{"X", {input.name()}}, {"Label", {label.name()}}}, .outputs = {{"Y", {out.name()}}}});
  return out;
}

Variable label_smooth(const Variable& label, const LabelSmoothOptions& options) {
  LayerHelper helper("label_smooth", options.name);
  const Variable out = helper.create_tmp(label.dtype());
  graph::SlotMap inputs = {{"X", {label.name()}}};
  if (options.prior_dist) inputs["PriorDist"] = {options.prior_dist.name()};
  helper.append_op({.type = "label_smooth",
                    .inputs = std::move(inputs),
                    .outputs = {{"Out", {out.name()}}},
                    .attributes = {{"epsilon", options.epsilon}}});
  return out;
}

Variable cos_sim(const Variable& x, const Variable& y) {
  LayerHelper helper("cos_sim", "");
  const Variable out = helper.create_tmp(x.dtype());
  const Variable x_norm = helper.create_tmp(x.dtype());
  const Variable y_norm = helper.create_tmp(x.dtype());
  helper.append_op({.type = "cos_sim",
                    .inputs = {{"X", {x.name()}}, {"Y", {y.name()}}},
                    .outputs = {{"Out", {out.name()}}, {"XNorm", {x_norm.name()}}, {"YNorm", {y_norm.name()}}}});
  return out;
}

}  // namespace argosy::layers
