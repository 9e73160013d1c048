#include "argosy/graph/layers/shape.h"

#include <algorithm>

#include "argosy/base/error.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layers/fill.h"

namespace argosy::layers {

using graph::LayerHelper;
using graph::OpDesc;

namespace {

// Adds an operator with outputs Out and XShape, which is made after Out.
Variable finish_with_x_shape(LayerHelper& helper, OpDesc op, const Variable& x) {
  const Variable out = helper.create_tmp(x.dtype()), x_shape = helper.create_tmp(x.dtype());
  op.inputs["X"] = {x.name()};
  op.outputs = {{"Out", {out.name()}}, {"XShape", {x_shape.name()}}};
  helper.append_op(std::move(op));
  return out;
}

Variable finish(LayerHelper& helper, OpDesc op, const char* slot, DType dtype) {
  const Variable out = helper.create_tmp(dtype);
  op.outputs[slot] = {out.name()};
  helper.append_op(std::move(op));
  return out;
}

std::vector<Variable> create_several(LayerHelper& helper, size_t count, DType dtype) {
  std::vector<Variable> made;
  for (size_t i = 0; i < count; ++i) made.push_back(helper.create_tmp(dtype));
  return made;
}

void put_axis(OpDesc& op, const Number& axis) {
  if (axis.variable)
    op.inputs["AxisTensor"] = {axis.variable.name()};
  else
    op.attributes["axis"] = static_cast<int32_t>(axis.value);
}

// split writes its axis counted from the front.
Number from_front(const Variable& input, const Number& dim) {
  if (dim.variable || dim.value >= 0) return dim;
  return dim.value + static_cast<int64_t>(input.shape().size());
}

std::vector<Variable> finish_split(LayerHelper& helper, OpDesc op, const Variable& input, const Number& dim, size_t count) {
  put_axis(op, from_front(input, dim));
  const std::vector<Variable> parts = create_several(helper, count, input.dtype());
  op.inputs["X"] = {input.name()};
  op.outputs["Out"] = names_of(parts);
  helper.append_op(std::move(op));
  return parts;
}

}  // namespace

Variable reshape(const Variable& x, const Numbers& shape, const ReshapeOptions& options) {
  LayerHelper helper("reshape2", options.name);
  OpDesc op{.type = "reshape2", .inputs = {{"X", {x.name()}}}};
  put_numbers(helper, op, shape, {.attribute = "shape", .tensor = "Shape", .list = "ShapeTensor"});
  if (options.actual_shape) op.inputs["Shape"] = {options.actual_shape.name()};
  const Variable out = options.inplace ? x : helper.create_tmp(x.dtype());
  const Variable x_shape = helper.create_tmp(x.dtype());
  op.outputs = {{"Out", {out.name()}}, {"XShape", {x_shape.name()}}};
  helper.append_op(std::move(op));
  return helper.append_activation(out, options.act);
}

Variable unsqueeze(const Variable& input, const Numbers& axes, const std::string& name) {
  LayerHelper helper("unsqueeze2", name);
  OpDesc op{.type = "unsqueeze2"};
  put_numbers(helper, op, axes, {.attribute = "axes", .tensor = "AxesTensor", .list = "AxesTensorList"});
  if (!axes.fixed()) op.attributes["axes"] = std::vector<int64_t>{};
  return finish_with_x_shape(helper, std::move(op), input);
}

Variable expand(const Variable& x, const Numbers& expand_times, const std::string& name) {
  LayerHelper helper("expand", name);
  OpDesc op{.type = "expand", .inputs = {{"X", {x.name()}}}};
  put_numbers(helper, op, expand_times, {.attribute = "expand_times", .tensor = "ExpandTimes", .list = "expand_times_tensor"});
  return finish(helper, std::move(op), "Out", x.dtype());
}

std::vector<Variable> unstack(const Variable& x, int32_t axis, int32_t num) {
  LayerHelper helper("unstack", "");
  const auto rank = static_cast<int32_t>(x.shape().size());
  const bool inside = axis >= -rank && axis < rank;
  if (num <= 0 && inside) num = static_cast<int32_t>(x.shape()[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
  if (num <= 0) {
    throw Error(Status::invalid_argument("unstack: the size of axis {} of variable '{}' {} is not known; give num", axis,
                                         x.name(), graph::shape_to_string(x.shape())));
  }
  const std::vector<Variable> parts = create_several(helper, static_cast<size_t>(num), x.dtype());
  helper.append_op({.type = "unstack",
                    .inputs = {{"X", {x.name()}}},
                    .outputs = {{"Y", names_of(parts)}},
                    .attributes = {{"axis", axis}, {"num", num}}});
  return parts;
}

std::vector<Variable> split(const Variable& input, int32_t num, const Number& dim, const std::string& name) {
  if (num < 1)
    throw Error(Status::invalid_argument("split: variable '{}' is to have {} parts, expected 1 or more", input.name(), num));
  LayerHelper helper("split", name);
  return finish_split(helper, {.type = "split", .attributes = {{"num", num}}}, input, dim, static_cast<size_t>(num));
}

std::vector<Variable> split(const Variable& input, const Numbers& sections, const Number& dim, const std::string& name) {
  LayerHelper helper("split", name);
  OpDesc op{.type = "split"};
  put_numbers(helper, op, sections, {.attribute = "sections", .tensor = nullptr, .list = "SectionsTensorList"});
  return finish_split(helper, std::move(op), input, dim, sections.items.size());
}

Variable slice(const Variable& input, const std::vector<int32_t>& axes, const Numbers& starts, const Numbers& ends) {
  LayerHelper helper("slice", "");
  OpDesc op{.type = "slice", .inputs = {{"Input", {input.name()}}}, .attributes = {{"axes", axes}}};
  put_numbers(helper, op, starts, {.attribute = "starts", .tensor = "StartsTensor", .list = "StartsTensorList"});
  put_numbers(helper, op, ends, {.attribute = "ends", .tensor = "EndsTensor", .list = "EndsTensorList"});
  op.attributes["infer_flags"] = std::vector<int32_t>(axes.size(), starts.fixed() && ends.fixed() ? 1 : -1);
  return finish(helper, std::move(op), "Out", input.dtype());
}

Variable strided_slice(const Variable& input, const std::vector<int32_t>& axes, const Numbers& starts, const Numbers& ends,
                       const Numbers& strides) {
  LayerHelper helper("strided_slice", "");
  OpDesc op{.type = "strided_slice", .inputs = {{"Input", {input.name()}}}, .attributes = {{"axes", axes}}};
  put_numbers(helper, op, starts, {.attribute = "starts", .tensor = "StartsTensor", .list = "StartsTensorList"});
  put_numbers(helper, op, ends, {.attribute = "ends", .tensor = "EndsTensor", .list = "EndsTensorList"});
  put_numbers(helper, op, strides, {.attribute = "strides", .tensor = "StridesTensor", .list = "StridesTensorList"});
  const bool fixed = starts.fixed() && ends.fixed() && strides.fixed();
  op.attributes["infer_flags"] = std::vector<int32_t>(axes.size(), fixed ? 1 : -1);
  return finish(helper, std::move(op), "Out", input.dtype());
}

Variable slice_of(const Variable& x, const std::vector<int32_t>& axes, const std::vector<int64_t>& starts,
                  const std::vector<int64_t>& ends, const std::vector<int32_t>& single) {
  const auto program = graph::default_main_program();
  graph::VarDesc desc;
  desc.name = graph::unique_name(x.name() + "_slice");
  desc.dtype = x.dtype();
  graph::Block& block = program->current_block();
  const Variable out(program, block, block.put_var(std::move(desc)));
  value_or_throw(block.append_op({.type = "slice",
                                  .inputs = {{"Input", {x.name()}}},
                                  .outputs = {{"Out", {out.name()}}},
                                  .attributes = {{"axes", axes},
                                                 {"starts", starts},
                                                 {"ends", ends},
                                                 {"infer_flags", std::vector<int32_t>(axes.size(), 1)},
                                                 {"decrease_axis", single}}}));
  return out;
}

}  // namespace argosy::layers
