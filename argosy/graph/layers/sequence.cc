#include "argosy/graph/layers/sequence.h"

#include <algorithm>
#include <cctype>

#include "argosy/base/error.h"

namespace argosy::layers {

using graph::LayerHelper;

Variable sequence_pool(const Variable& input, const std::string& pool_type, const SequencePoolOptions& options) {
  LayerHelper helper("sequence_pool", "");
  std::string kind = pool_type;
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  const Variable out = helper.create_tmp(input.dtype());
  const Variable max_index = helper.create_tmp(input.dtype());
  helper.append_op({.type = "sequence_pool",
                    .inputs = {{"X", {input.name()}}},
                    .outputs = {{"Out", {out.name()}}, {"MaxIndex", {max_index.name()}}},
                    .attributes = {{"pooltype", kind}, {"is_test", options.is_test}, {"pad_value", options.pad_value}}});
  if (kind == "MAX") max_index.desc().stop_gradient = true;
  return out;
}

Variable sequence_first_step(const Variable& input) { return sequence_pool(input, "first"); }
Variable sequence_last_step(const Variable& input) { return sequence_pool(input, "last"); }

namespace {

Variable append_pair(const std::string& type, const std::string& name, const Variable& x, const Variable& y,
                     graph::AttributeMap attributes = {}) {
  LayerHelper helper(type, name);
  const Variable out = helper.create_tmp(x.dtype());
  helper.append_op({.type = type,
                    .inputs = {{"X", {x.name()}}, {"Y", {y.name()}}},
                    .outputs = {{"Out", {out.name()}}},
                    .attributes = std::move(attributes)});
  return out;
}

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

Variable sequence_expand(const Variable& x, const Variable& y, int32_t ref_level, const std::string& name) {
  return append_pair("sequence_expand", name, x, y, {{"ref_level", ref_level}});
}

Variable sequence_expand_as(const Variable& x, const Variable& y, const std::string& name) {
  return append_pair("sequence_expand_as", name, x, y);
}

Variable sequence_concat(const std::vector<Variable>& input, const std::string& name) {
  if (input.empty()) throw Error(Status::invalid_argument("sequence_concat: no input was given"));
  LayerHelper helper("sequence_concat", name);
  const Variable out = helper.create_tmp(input.front().dtype());
  helper.append_op({.type = "sequence_concat", .inputs = {{"X", names_of(input)}}, .outputs = {{"Out", {out.name()}}}});
  return out;
}

Variable sequence_softmax(const Variable& input, const std::string& name) {
  return LayerHelper("sequence_softmax", name).append_unary("sequence_softmax", input);
}

Variable sequence_reshape(const Variable& input, int32_t new_dim) {
  return LayerHelper("sequence_reshape", "").append_unary("sequence_reshape", input, {{"new_dim", new_dim}});
}

Variable sequence_reverse(const Variable& x, const std::string& name) {
  LayerHelper helper("sequence_reverse", name);
  const Variable out = helper.create_tmp(x.dtype());
  helper.append_op({.type = "sequence_reverse", .inputs = {{"X", {x.name()}}}, .outputs = {{"Y", {out.name()}}}});
  return out;
}

Variable sequence_slice(const Variable& input, const Variable& offset, const Variable& length, const std::string& name) {
  LayerHelper helper("sequence_slice", name);
  const Variable out = helper.create_tmp(input.dtype());
  helper.append_op({.type = "sequence_slice",
                    .inputs = {{"X", {input.name()}}, {"Offset", {offset.name()}}, {"Length", {length.name()}}},
                    .outputs = {{"Out", {out.name()}}}});
  return out;
}

Variable sequence_enumerate(const Variable& input, int32_t win_size, int32_t pad_value, const std::string& name) {
  LayerHelper helper("sequence_enumerate", name);
  const Variable out = helper.append_unary("sequence_enumerate", input, {{"win_size", win_size}, {"pad_value", pad_value}});
  out.desc().stop_gradient = true;
  return out;
}

PaddedSequences sequence_pad(const Variable& x, Variable pad_value, int32_t maxlen, const std::string& name) {
  LayerHelper helper("sequence_pad", name);
  const Variable out = helper.create_tmp(x.dtype());
  const Variable length = helper.create_tmp(DType::int64, true);
  pad_value.set_stop_gradient(true);
  helper.append_op({.type = "sequence_pad",
                    .inputs = {{"X", {x.name()}}, {"PadValue", {pad_value.name()}}},
                    .outputs = {{"Out", {out.name()}}, {"Length", {length.name()}}},
                    .attributes = {{"padded_length", maxlen}}});
  return {.out = out, .length = length};
}

Variable sequence_unpad(const Variable& x, const Variable& length, const std::string& name) {
  LayerHelper helper("sequence_unpad", name);
  const Variable out = helper.create_tmp(x.dtype());
  helper.append_op(
      {.type = "sequence_unpad", .inputs = {{"X", {x.name()}}, {"Length", {length.name()}}}, .outputs = {{"Out", {out.name()}}}});
  return out;
}

Variable sequence_mask(const Variable& x, const Number& maxlen, DType dtype, const std::string& name) {
  LayerHelper helper("sequence_mask", name);
  const Variable out = helper.create_tmp(dtype, true);
  graph::OpDesc op{.type = "sequence_mask",
                   .inputs = {{"X", {x.name()}}},
                   .outputs = {{"Y", {out.name()}}},
                   .attributes = {{"out_dtype", static_cast<int32_t>(dtype)}}};
  if (maxlen.variable)
    op.inputs["MaxLenTensor"] = {maxlen.variable.name()};
  else
    op.attributes["maxlen"] = static_cast<int32_t>(maxlen.value);
  helper.append_op(std::move(op));
  return out;
}

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
