// Operators that change the shape and leave the elements: reshape, flatten, squeeze, unsqueeze, transpose, expand. The forms
// with a 2 have an output XShape, which carries X's shape in its description and no value.
#include <ATen/ATen.h>

#include <algorithm>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::ShapeContext;
using Shape = std::vector<int64_t>;

// Out is `out`; sequences stay what they were where there are as many rows as before.
void set_reshaped(const OpContext& op, at::Tensor out) {
  const Value& x = op.input("X");
  const bool same_rows = out.dim() > 0 && x.tensor.dim() > 0 && out.size(0) == x.tensor.size(0);
  op.set_output("Out", std::move(out), same_rows ? x.lod : nullptr);
}

void infer_reshaped(ShapeContext& context, Shape shape) {
  const auto& x = context.input("X");
  const bool same_rows = !shape.empty() && !x.shape.empty() && shape[0] == x.shape[0];
  Shape x_shape = {0};
  x_shape.insert(x_shape.end(), x.shape.begin(), x.shape.end());
  context.set_output("XShape", std::move(x_shape), x.dtype, x.lod_level);
  context.set_output("Out", std::move(shape), x.dtype, same_rows ? x.lod_level : 0);
}

OpRegistration with_x_shape(OpRegistration op) { return op.optional_output("XShape", "X's shape, behind a 0"); }

// --- reshape

constexpr NumberSlots kReshape{.attribute = "shape", .tensor = "Shape", .list = "ShapeTensor"};

void reshape(const OpContext& op) {
  const at::Tensor x = viewable(op, "X");
  Shape shape = integers(op, kReshape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 0 || x.numel() == 0) continue;
    if (static_cast<int64_t>(i) >= x.dim())
      op.fail("shape {} copies dimension {} of variable '{}', which has {}", graph::shape_to_string(shape), i, op.input_name("X"),
              x.dim());
    shape[i] = x.size(static_cast<int64_t>(i));
  }
  set_reshaped(op, x.reshape(shape));
}

Status infer_reshape(ShapeContext& context) {
  const auto& x = context.input("X");
  Shape shape = integers_at_build(context, kReshape);
  const Shape wanted = shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 0) continue;
    if (i >= x.shape.size()) {
      return Status::invalid_argument("shape {} copies dimension {} of variable '{}' {}, which has only {}",
                                      graph::shape_to_string(wanted), i, x.name, graph::shape_to_string(x.shape), x.shape.size());
    }
    shape[i] = x.shape[i];
  }
  const int64_t size = product(x.shape, 0, x.shape.size());
  if (size >= 0 && fixed_at_build(context, kReshape)) {
    const auto open = std::find(shape.begin(), shape.end(), -1);
    const int64_t known = product(shape, 0, static_cast<size_t>(open - shape.begin())) *
                          (open == shape.end() ? 1 : product(shape, static_cast<size_t>(open - shape.begin()) + 1, shape.size()));
    if (known <= 0 || (open == shape.end() ? known != size : size % known != 0)) {
      return Status::invalid_argument("variable '{}' {} has {} elements, which do not fill shape {}", x.name,
                                      graph::shape_to_string(x.shape), size, graph::shape_to_string(wanted));
    }
    if (open != shape.end()) *open = size / known;
  }
  infer_reshaped(context, std::move(shape));
  return {};
}

OpRegistration reshape_op(const char* type) {
  return OpRegistration(type, reshape)
      .doc("The same elements in another shape.")
      .input("X", "any shape")
      .optional_input("Shape", "the shape, where the program computes it")
      .optional_input_list("ShapeTensor", "the same, one variable a dimension")
      .output("Out", "the reshaped tensor")
      .attr("shape", std::vector<int32_t>{}, "the shape; -1 once: what is left; 0: as in X")
      .infer_shape(infer_reshape);
}
const OpRegistration kReshape1 = reshape_op("reshape"), kReshape2 = with_x_shape(reshape_op("reshape2"));

// --- flatten

void flatten(const OpContext& op) {
  const at::Tensor x = viewable(op, "X");
  const int64_t axis = op.attr<int32_t>("axis");
  if (axis < 0 || axis > x.dim())
    op.fail("axis {} is outside variable '{}', which has {} dimensions", axis, op.input_name("X"), x.dim());
  int64_t rows = 1;
  for (int64_t i = 0; i < axis; ++i) rows *= x.size(i);
  set_reshaped(op, x.reshape({rows, rows == 0 ? 0 : x.numel() / rows}));
}

Status infer_flatten(ShapeContext& context) {
  const auto& x = context.input("X");
  const auto axis = static_cast<size_t>(context.attribute<int32_t>("axis"));
  if (axis > x.shape.size()) {
    return Status::invalid_argument("axis {} is outside variable '{}' {}", context.attribute<int32_t>("axis"), x.name,
                                    graph::shape_to_string(x.shape));
  }
  infer_reshaped(context, {product(x.shape, 0, axis), product(x.shape, axis, x.shape.size())});
  return {};
}

OpRegistration flatten_op(const char* type) {
  return OpRegistration(type, flatten)
      .doc("A matrix of the same elements.")
      .input("X", "any shape")
      .output("Out", "the matrix")
      .attr("axis", 1, "the dimensions before it are the rows")
      .infer_shape(infer_flatten);
}
const OpRegistration kFlatten1 = flatten_op("flatten"),
                     kFlatten2 = with_x_shape(flatten_op("flatten2"))
                                     .function({.signature = "flatten(x, axis=1, name=None)", .layer = "flatten"});

ARGOSY_OP("flatten_contiguous_range",
          [](const OpContext& op) {
            const at::Tensor x = viewable(op, "X");
            set_reshaped(
                op, x.dim() == 0 ? x.reshape({1}) : x.flatten(op.attr<int32_t>("start_axis"), op.attr<int32_t>("stop_axis")));
          })
    .doc("Some neighbouring dimensions made one.")
    .input("X", "any shape")
    .output("Out", "the same elements")
    .optional_output("XShape", "X's shape, behind a 0")
    .attr("start_axis", 1, "the first of them")
    .attr("stop_axis", 1, "the last of them")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      ASSIGN_OR_RETURN(const size_t start, axis_in(x, context.attribute<int32_t>("start_axis")));
      ASSIGN_OR_RETURN(const size_t stop, axis_in(x, context.attribute<int32_t>("stop_axis")));
      if (start > stop) return Status::invalid_argument("start_axis {} is behind stop_axis {}", start, stop);
      Shape shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(start));
      shape.push_back(product(x.shape, start, stop + 1));
      shape.insert(shape.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(stop) + 1, x.shape.end());
      infer_reshaped(context, std::move(shape));
      return {};
    });

// --- squeeze and unsqueeze

void squeeze(const OpContext& op) {
  const at::Tensor x = viewable(op, "X");
  const Shape axes = integer_list(op.desc(), "axes");
  at::Tensor out = axes.empty() ? x.squeeze() : x.squeeze(axes);
  set_reshaped(op, out.dim() == 0 ? out.reshape({1}) : std::move(out));
}

Status infer_squeeze(ShapeContext& context) {
  const auto& x = context.input("X");
  const Shape axes = integer_list(context.op(), "axes");
  std::vector<bool> gone(x.shape.size(), false);
  for (size_t i = 0; axes.empty() && i < gone.size(); ++i) gone[i] = x.shape[i] == 1;
  for (int64_t axis : axes) {
    ASSIGN_OR_RETURN(const size_t at, axis_in(x, axis));
    gone[at] = x.shape[at] == 1 || x.shape[at] < 0;
  }
  Shape shape;
  for (size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) shape.push_back(x.shape[i]);
  }
  infer_reshaped(context, shape.empty() ? Shape{1} : std::move(shape));
  return {};
}

OpRegistration squeeze_op(const char* type) {
  return OpRegistration(type, squeeze)
      .doc("Without dimensions of size 1.")
      .input("X", "any shape")
      .output("Out", "the same elements")
      .attr("axes", std::vector<int32_t>{}, "the dimensions; those of another size stay. Empty: all of size 1")
      .infer_shape(infer_squeeze);
}
const OpRegistration kSqueeze1 = squeeze_op("squeeze"), kSqueeze2 = with_x_shape(squeeze_op("squeeze2"))
                                                                        .function({.signature = "squeeze(input, axes, name=None)",
                                                                                   .targets = {{"input", "X"}},
                                                                                   .layer = "squeeze"});

constexpr NumberSlots kUnsqueeze{.attribute = "axes", .tensor = "AxesTensor", .list = "AxesTensorList"};

void unsqueeze(const OpContext& op) {
  at::Tensor out = viewable(op, "X");
  for (int64_t axis : integers(op, kUnsqueeze)) out = out.unsqueeze(axis);
  set_reshaped(op, std::move(out));
}

Status infer_unsqueeze(ShapeContext& context) {
  const auto& x = context.input("X");
  Shape shape = x.shape;
  if (!fixed_at_build(context, kUnsqueeze)) {
    const size_t more =
        context.has_input("AxesTensor") ? integers_at_build(context, kUnsqueeze).size() : context.input_count("AxesTensorList");
    shape.assign(x.shape.size() + more, -1);
    infer_reshaped(context, std::move(shape));
    return {};
  }
  for (int64_t axis : integer_list(context.op(), "axes")) {
    const auto rank = static_cast<int64_t>(shape.size());
    if (axis < -rank - 1 || axis > rank) {
      return Status::invalid_argument("axis {} is outside variable '{}' {}", axis, x.name, graph::shape_to_string(x.shape));
    }
    shape.insert(shape.begin() + (axis < 0 ? axis + rank + 1 : axis), 1);
  }
  infer_reshaped(context, std::move(shape));
  return {};
}

OpRegistration unsqueeze_op(const char* type) {
  return OpRegistration(type, unsqueeze)
      .doc("With more dimensions of size 1.")
      .input("X", "any shape")
      .optional_input("AxesTensor", "the axes, where the program computes them")
      .optional_input_list("AxesTensorList", "the same, one variable each")
      .output("Out", "the same elements")
      .attr("axes", std::vector<int32_t>{}, "where they go, one after the other")
      .infer_shape(infer_unsqueeze);
}
const OpRegistration kUnsqueeze1 = unsqueeze_op("unsqueeze"), kUnsqueeze2 = with_x_shape(unsqueeze_op("unsqueeze2"));

// --- transpose

Status infer_transpose(ShapeContext& context) {
  const auto& x = context.input("X");
  const Shape order = integer_list(context.op(), "axis");
  std::vector<bool> seen(x.shape.size(), false);
  Shape shape;
  for (int64_t axis : order) {
    ASSIGN_OR_RETURN(const size_t at, axis_in(x, axis));
    seen[at] = true;
    shape.push_back(x.shape[at]);
  }
  if (order.size() != x.shape.size() || std::find(seen.begin(), seen.end(), false) != seen.end()) {
    return Status::invalid_argument("{} does not name each dimension of variable '{}' {} once", graph::shape_to_string(order),
                                    x.name, graph::shape_to_string(x.shape));
  }
  infer_reshaped(context, shape);
  context.set_output("Out", std::move(shape), x.dtype);
  return {};
}

OpRegistration transpose_op(const char* type) {
  return OpRegistration(
             type, [](const OpContext& op) { op.set_output("Out", viewable(op, "X").permute(integer_list(op.desc(), "axis"))); })
      .doc("The dimensions in another order.")
      .input("X", "any shape")
      .output("Out", "the transposed tensor")
      .attr("axis", std::vector<int32_t>{}, "for each dimension of Out: which of X's it is")
      .infer_shape(infer_transpose);
}
const OpRegistration kTranspose1 = transpose_op("transpose"),
                     kTranspose2 =
                         with_x_shape(transpose_op("transpose2"))
                             .function({.signature = "transpose(x, perm, name=None)",
                                        .targets = {{"perm", "axis"}},
                                        .layer = "transpose",
                                        .example = "x = fluid.data('x', [None, 4])\ny = fluid.layers.transpose(x, [1, 0])"});

}  // namespace
}  // namespace argosy::engine
