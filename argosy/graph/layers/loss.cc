#include "argosy/graph/layers/loss.h"

#include "argosy/graph/function_call.h"

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

Variable square_error_cost(const Variable& input, const Variable& label) {
  LayerHelper helper("square_error_cost", "");
  const Variable difference = helper.create_tmp(input.dtype());
  helper.append_op({.type = "elementwise_sub",
                    .inputs = {{"X", {input.name()}}, {"Y", {label.name()}}},
                    .outputs = {{"Out", {difference.name()}}}});
  return helper.append_unary("square", difference);
}

Variable mse_loss(const Variable& input, const Variable& label) {
  return graph::call("reduce_mean", {square_error_cost(input, label)})[0];
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

}  // namespace argosy::layers
