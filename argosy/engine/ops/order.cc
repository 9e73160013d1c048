// Operators that compare the entries of one tensor: the largest ones, their places, sorting, distinct values.
#include <ATen/ATen.h>

#include <utility>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::DType;
using graph::ShapeContext;
using Shape = std::vector<int64_t>;

void top_k(const OpContext& op, int64_t axis, bool largest, bool sorted) {
  const Value& x = op.input("X");
  const int64_t k = integer(op, "k", "K");
  const int64_t size = x.tensor.dim() == 0 ? 1 : x.tensor.size(axis);
  if (k < 1 || k > size) op.fail("k is {}, but variable '{}' has {} entries along axis {}", k, op.input_name("X"), size, axis);
  auto [values, places] = at::topk(x.tensor, k, axis, largest, sorted);
  op.set_output("Out", std::move(values), x.lod);
  op.set_output("Indices", std::move(places), x.lod);
}

Status infer_top_k(ShapeContext& context, int64_t along) {
  const auto& x = context.input("X");
  ASSIGN_OR_RETURN(const size_t axis, axis_in(x, along));
  const int64_t k = context.attribute<int32_t>("k");
  if (!context.has_input("K") && (k < 1 || (x.shape[axis] >= 0 && k > x.shape[axis]))) {
    return Status::invalid_argument("k is {}, but variable '{}' {} has {} entries along axis {}", k, x.name,
                                    graph::shape_to_string(x.shape), x.shape[axis], axis);
  }
  Shape shape = x.shape;
  shape[axis] = k;
  context.set_output("Out", shape, x.dtype, x.lod_level);
  context.set_output("Indices", std::move(shape), DType::int64, x.lod_level);
  return {};
}

ARGOSY_OP("top_k", [](const OpContext& op) { top_k(op, -1, true, true); })
    .doc("The k largest values of each row, the largest first.")
    .input("X", "any shape")
    .optional_input("K", "k, where the program computes it")
    .output("Out", "the values")
    .output("Indices", "where they are, int64")
    .attr("k", 1, "how many")
    .infer_shape([](ShapeContext& context) { return infer_top_k(context, -1); })
    .function({.signature = "topk(input, k, name=None)",
               .targets = {{"input", "X"}, {"k", "k|K"}},
               .returns = {"Out:values", "Indices:indices"},
               .result = "Ordered",
               .stop_gradient = true});

ARGOSY_OP("top_k_v2",
          [](const OpContext& op) { top_k(op, op.attr<int32_t>("axis"), op.attr<bool>("largest"), op.attr<bool>("sorted")); })
    .doc("The k largest or smallest values along an axis.")
    .input("X", "any shape")
    .optional_input("K", "k, where the program computes it")
    .output("Out", "the values")
    .output("Indices", "where they are, int64")
    .attr("k", 1, "how many")
    .attr("axis", -1, "the axis")
    .attr("largest", true, "the largest ones")
    .attr("sorted", true, "in order")
    .infer_shape([](ShapeContext& context) { return infer_top_k(context, context.attribute<int32_t>("axis")); });

ARGOSY_OP("argsort",
          [](const OpContext& op) {
            const Value& x = op.input("X");
            auto [values, places] = at::sort(x.tensor, /*stable=*/true, op.attr<int32_t>("axis"), op.attr<bool>("descending"));
            op.set_output("Out", std::move(values), x.lod);
            op.set_output("Indices", std::move(places), x.lod);
          })
    .doc("The entries along an axis in order; equal ones keep theirs.")
    .input("X", "any shape")
    .output("Out", "the values")
    .output("Indices", "where they were, int64")
    .attr("axis", -1, "the axis")
    .attr("descending", false, "the largest first")
    .infer_shape([](ShapeContext& context) -> Status {
      const auto& x = context.input("X");
      RETURN_IF_ERROR(axis_in(x, context.attribute<int32_t>("axis")).status());
      context.set_output_like("Out", x);
      context.set_output("Indices", x.shape, DType::int64, x.lod_level);
      return {};
    })
    .function({.signature = "argsort(input, axis=-1, descending=False, name=None)",
               .targets = {{"input", "X"}},
               .returns = {"Out:values", "Indices:indices"},
               .result = "Ordered",
               .stop_gradient = true});

at::ScalarType index_type(const OpContext& op) {
  return op.attr<int32_t>("dtype") < 0 ? at::kLong : scalar_type(op.dtype_attr("dtype"));
}

template <bool largest>
void arg_extreme(const OpContext& op) {
  const at::Tensor x = op.attr<bool>("flatten") ? op.tensor("X").flatten() : op.tensor("X");
  const int64_t axis = op.attr<bool>("flatten") ? 0 : op.attr<int64_t>("axis");
  const bool keep = op.attr<bool>("keepdims");
  at::Tensor out = (largest ? at::argmax(x, axis, keep) : at::argmin(x, axis, keep)).to(index_type(op));
  op.set_output("Out", out.dim() == 0 ? out.reshape({1}) : std::move(out));
}

Status infer_arg_extreme(ShapeContext& context) {
  const auto& x = context.input("X");
  const auto number = context.attribute<int32_t>("dtype");
  const DType dtype = number < 0 ? DType::int64 : context.dtype_attribute("dtype", DType::int64);
  Shape shape;
  if (!context.attribute<bool>("flatten")) {
    ASSIGN_OR_RETURN(const size_t axis, axis_in(x, context.attribute<int64_t>("axis")));
    for (size_t i = 0; i < x.shape.size(); ++i) {
      if (i != axis)
        shape.push_back(x.shape[i]);
      else if (context.attribute<bool>("keepdims"))
        shape.push_back(1);
    }
  }
  context.set_output("Out", shape.empty() ? Shape{1} : std::move(shape), dtype);
  return {};
}

OpRegistration arg_extreme_op(const char* type, const std::string& function, Kernel kernel, const char* doc) {
  return OpRegistration(type, kernel)
      .doc(doc)
      .input("X", "any shape")
      .output("Out", "X without the axis")
      .attr("axis", int64_t{0}, "the axis")
      .attr("keepdims", false, "keep the axis, with size 1")
      .attr("flatten", false, "over all elements as one line")
      .attr("dtype", -1, "int32 or int64; -1: int64")
      .infer_shape(infer_arg_extreme)
      .no_gradient()
      .function({.signature = function + "(x, axis=0)", .stop_gradient = true});
}
const OpRegistration kArgMax =
    arg_extreme_op("arg_max", "argmax", &arg_extreme<true>, "Where the largest entry along an axis is; the first of equal ones.");
const OpRegistration kArgMin = arg_extreme_op("arg_min", "argmin", &arg_extreme<false>,
                                              "Where the smallest entry along an axis is; the first of equal ones.");

// The first position of each of `count` values, by the value that each entry has.
at::Tensor first_positions(const at::Tensor& inverse, int64_t count) {
  const at::Tensor places = at::arange(inverse.numel(), inverse.options());
  return at::full({count}, inverse.numel(), inverse.options()).scatter_reduce(0, inverse, places, "amin");
}

// torch finds distinct values, or slices along an axis, in ascending order; without is_sorted they are wanted in the order of
// their first occurrence.
void unique(const OpContext& op) {
  const std::vector<int64_t> axes = integer_list(op.desc(), "axis");
  const int64_t axis = axes.empty() ? 0 : axes[0];
  const at::Tensor x = axes.empty() ? op.tensor("X").flatten() : op.tensor("X");
  auto [values, inverse, counts] = at::unique_dim(x, axis, true, true, true);
  at::Tensor first = first_positions(inverse, values.size(axis));
  if (!op.attr<bool>("is_sorted")) {
    const at::Tensor order = at::argsort(first);
    inverse = at::argsort(order).index_select(0, inverse);
    values = values.index_select(axis, order);
    first = first.index_select(0, order);
    counts = counts.index_select(0, order);
  }
  const at::ScalarType type = scalar_type(op.dtype_attr("dtype"));
  op.set_output("Out", values);
  op.set_output("Index", inverse.to(type));
  op.set_output("Indices", first.to(type));
  op.set_output("Counts", counts.to(type));
  op.set_output("Count", counts.to(type));
}

Status infer_unique(ShapeContext& context) {
  const auto& x = context.input("X");
  const DType index = context.dtype_attribute("dtype", DType::int32);
  const std::vector<int64_t> axes = integer_list(context.op(), "axis");
  Shape shape = {-1};
  int64_t entries = product(x.shape, 0, x.shape.size());
  if (!axes.empty()) {
    ASSIGN_OR_RETURN(const size_t axis, axis_in(x, axes[0]));
    shape = x.shape;
    entries = std::exchange(shape[axis], -1);
  }
  context.set_output("Out", std::move(shape), x.dtype);
  context.set_output("Index", {entries}, index);
  for (const char* slot : {"Indices", "Counts", "Count"}) context.set_output(slot, {-1}, index);
  return {};
}

const std::string kDistinctExample = "x = fluid.data('x', [None], 'int64')\n";

OpRegistration unique_op(const char* type) {
  return OpRegistration(type, unique)
      .doc("The distinct elements.")
      .input("X", "any shape")
      .output("Out", "each element once")
      .optional_output("Index", "for each element of X: its place in Out")
      .attr("dtype", static_cast<int32_t>(DType::int32), "int32 or int64: the type of Index")
      .attr("is_sorted", false, "ascending; otherwise in the order of first occurrence")
      .attr("axis", std::vector<int32_t>{}, "distinct slices along this axis; none: distinct elements")
      .attr("return_index", false, "Indices are wanted")
      .attr("return_inverse", false, "Index is wanted")
      .attr("return_counts", false, "Counts are wanted")
      .infer_shape(infer_unique)
      .no_gradient();
}
const OpRegistration kUnique = unique_op("unique")
                                   .optional_output("Indices", "the first occurrences")
                                   .optional_output("Counts", "how often each occurs")
                                   .function({.signature = "unique(x, dtype='int32')",
                                              .returns = {"Out:values", "Index"},
                                              .makes = {"Out", "Index"},
                                              .result = "Distinct",
                                              .example = kDistinctExample + "values, index = fluid.layers.unique(x)"});
const OpRegistration kUniqueWithCounts =
    unique_op("unique_with_counts")
        .output("Count", "how often each occurs")
        .function({.signature = "unique_with_counts(x, dtype='int32')",
                   .returns = {"Out:values", "Index", "Count"},
                   .result = "CountedDistinct",
                   .example = kDistinctExample + "values, index, count = fluid.layers.unique_with_counts(x)"});

}  // namespace
}  // namespace argosy::engine
