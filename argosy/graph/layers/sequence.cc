#include "argosy/graph/layers/sequence.h"

#include "argosy/base/error.h"

namespace argosy::layers {

using graph::LayerHelper;

namespace {

Variable append_lod_reset(const char* layer, const Variable& x, const Variable& y, const std::vector<int32_t>& boundaries,
                          bool append) {
  LayerHelper helper(layer, "");
  const Variable out = helper.create_tmp(x.dtype());
  graph::SlotMap inputs = {{"X", {x.name()}}};
  if (y) inputs["Y"] = {y.name()};
  helper.append_op({.type = "lod_reset",
                    .inputs = std::move(inputs),
                    .outputs = {{"Out", {out.name()}}},
                    .attributes = {{"target_lod", boundaries}, {"append", append}}});
  return out;
}

}  // namespace

Variable lod_reset(const Variable& x, const Variable& y) { return append_lod_reset("lod_reset", x, y, {}, false); }
Variable lod_reset(const Variable& x, const std::vector<int32_t>& target_lod) {
  return append_lod_reset("lod_reset", x, {}, target_lod, false);
}
Variable lod_append(const Variable& x, const Variable& level) { return append_lod_reset("lod_append", x, level, {}, true); }
Variable lod_append(const Variable& x, const std::vector<int32_t>& level) {
  return append_lod_reset("lod_append", x, {}, level, true);
}

Variable sequence_conv(const Variable& input, int32_t num_filters, const SequenceConvOptions& options) {
  if (options.filter_stride != 1)
    throw Error(Status::invalid_argument("sequence_conv: filter_stride is {}, only 1 is supported", options.filter_stride));
  if (input.shape().size() != 2)
    throw Error(Status::invalid_argument("sequence_conv: '{}' has shape {}, expected [rows, width]", input.name(),
                                         graph::shape_to_string(input.shape())));
  LayerHelper helper("sequence_conv", options.name);
  const Variable filter =
      helper.create_parameter(options.param, {options.filter_size * input.shape()[1], num_filters}, input.dtype());
  const Variable out = helper.create_tmp(input.dtype());
  helper.append_op({.type = "sequence_conv",
                    .inputs = {{"X", {input.name()}}, {"Filter", {filter.name()}}},
                    .outputs = {{"Out", {out.name()}}},
                    .attributes = {{"contextStride", options.filter_stride},
                                   {"contextStart", options.padding_start.value_or(-(options.filter_size / 2))},
                                   {"contextLength", options.filter_size}}});
  return helper.append_activation(helper.append_bias(out, options.bias, 1), options.act);
}

}  // namespace argosy::layers
