#include "argosy/graph/layers/loss.h"

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

SoftmaxWithCrossEntropy softmax_with_cross_entropy(const Variable& logits, const Variable& label, const SoftmaxWithCrossEntropyOptions& options) {
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

}  // namespace argosy::layers
