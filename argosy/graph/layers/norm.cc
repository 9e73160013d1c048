// Layers that change the scale of what passes through: dropout and the normalisations.
#include <algorithm>

#include "argosy/base/error.h"
#include "argosy/graph/layers/nn.h"

namespace argosy::layers {

using graph::constant_initializer;
using graph::LayerHelper;

Variable dropout(const Variable& x, float dropout_prob, const DropoutOptions& options) {
  LayerHelper helper("dropout", options.name);
  const Variable out = helper.create_tmp(x.dtype());
  const Variable mask = helper.create_tmp(DType::uint8, true);
  helper.append_op({.type = "dropout",
                    .inputs = {{"X", {x.name()}}},
                    .outputs = {{"Out", {out.name()}}, {"Mask", {mask.name()}}},
                    .attributes = {{"dropout_prob", dropout_prob},
                                   {"is_test", options.is_test},
                                   {"fix_seed", options.seed.has_value()},
                                   {"seed", options.seed.value_or(0)},
                                   {"dropout_implementation", options.dropout_implementation}}});
  return out;
}

namespace {

int64_t channels_of(const Variable& input, const std::string& layout) {
  if (input.shape().size() < 2) {
    throw Error(Status::invalid_argument("batch_norm: '{}' has shape {}, expected at least 2 dimensions", input.name(),
                                         graph::shape_to_string(input.shape())));
  }
  return layout == "NHWC" ? input.shape().back() : input.shape()[1];
}

// A running statistic: a parameter that no optimizer touches.
Variable running(LayerHelper& helper, const BatchNormOptions& options, const std::string& name, const Variable& like,
                 float first) {
  ParamAttr attr(name);
  attr.trainable = false;
  attr.do_model_average = options.do_model_average_for_mean_and_var;
  return helper.create_parameter(attr, {channels_of(like, options.data_layout)}, like.dtype(), false,
                                 constant_initializer(first));
}

}  // namespace

Variable batch_norm(const Variable& input, const BatchNormOptions& options) {
  if (options.param.absent || options.bias.absent)
    throw Error(Status::invalid_argument("batch_norm: param_attr and bias_attr cannot be False"));
  LayerHelper helper("batch_norm", options.name);
  const int64_t channels = channels_of(input, options.data_layout);
  const Variable scale = helper.create_parameter(options.param, {channels}, input.dtype(), false, constant_initializer(1));
  const Variable bias = helper.create_parameter(options.bias, {channels}, input.dtype(), true);
  const Variable mean = running(helper, options, options.moving_mean_name, input, 0);
  const Variable variance = running(helper, options, options.moving_variance_name, input, 1);
  const Variable saved_mean = helper.create_tmp(input.dtype(), true);
  const Variable saved_variance = helper.create_tmp(input.dtype(), true);
  const Variable out = options.in_place ? input : helper.create_tmp(input.dtype());
  helper.append_op({.type = "batch_norm",
                    .inputs = {{"X", {input.name()}},
                               {"Scale", {scale.name()}},
                               {"Bias", {bias.name()}},
                               {"Mean", {mean.name()}},
                               {"Variance", {variance.name()}}},
                    .outputs = {{"Y", {out.name()}},
                                {"MeanOut", {mean.name()}},
                                {"VarianceOut", {variance.name()}},
                                {"SavedMean", {saved_mean.name()}},
                                {"SavedVariance", {saved_variance.name()}}},
                    .attributes = {{"momentum", options.momentum},
                                   {"epsilon", options.epsilon},
                                   {"is_test", options.is_test},
                                   {"data_layout", options.data_layout},
                                   {"use_global_stats", options.use_global_stats}}});
  return helper.append_activation(out, options.act);
}

Variable layer_norm(const Variable& input, const LayerNormOptions& options) {
  LayerHelper helper("layer_norm", options.name);
  int64_t width = 1;
  for (size_t i = static_cast<size_t>(std::max(options.begin_norm_axis, 0)); i < input.shape().size(); ++i)
    width *= input.shape()[i];
  if (width < 1) {
    throw Error(Status::invalid_argument("layer_norm: '{}' has shape {}; the dimensions from {} on must be known", input.name(),
                                         graph::shape_to_string(input.shape()), options.begin_norm_axis));
  }
  graph::SlotMap inputs = {{"X", {input.name()}}};
  if (options.scale)
    inputs["Scale"] = {helper.create_parameter(options.param, {width}, input.dtype(), false, constant_initializer(1)).name()};
  if (options.shift) inputs["Bias"] = {helper.create_parameter(options.bias, {width}, input.dtype(), true).name()};
  const Variable mean = helper.create_tmp(input.dtype(), true);
  const Variable variance = helper.create_tmp(input.dtype(), true);
  const Variable out = helper.create_tmp(input.dtype());
  helper.append_op({.type = "layer_norm",
                    .inputs = std::move(inputs),
                    .outputs = {{"Y", {out.name()}}, {"Mean", {mean.name()}}, {"Variance", {variance.name()}}},
                    .attributes = {{"epsilon", options.epsilon}, {"begin_norm_axis", options.begin_norm_axis}}});
  return helper.append_activation(out, options.act);
}

}  // namespace argosy::layers
