// Sums, means, extremes and products over some or all axes. A full reduction has shape [1].
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <numeric>

#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"
#include "argosy/graph/function_call.h"

namespace argosy::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The axes to reduce, ascending and counted from the front; all of them where the operator says so.
std::vector<int64_t> axes_of(const OpContext& op, int64_t rank) {
  std::vector<int64_t> axes = integer_list(op.desc(), "dim");
  if (op.attr<bool>("reduce_all") || axes.empty()) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank)
      op.fail("attribute 'dim' has {}, but variable '{}' has {} dimensions", axis, op.input_name("X"), rank);
    if (axis < 0) axis += rank;
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

// The largest (or smallest) values, kept dimensions. Every element that equals the extreme gets the whole gradient, as in
// Paddle; torch would share it out or choose one.
struct Extreme : torch::autograd::Function<Extreme> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, std::vector<int64_t> axes, bool largest) {
    at::Tensor out = largest ? at::amax(x, axes, true) : at::amin(x, axes, true);
    context->save_for_backward({x, out});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    const variable_list saved = context->get_saved_variables();
    return {grads[0] * (saved[0] == saved[1]), at::Tensor(), at::Tensor()};
  }
};

at::Tensor product_over(const at::Tensor& x, const std::vector<int64_t>& axes) {
  at::Tensor out = x;
  for (int64_t axis : axes) out = at::prod(out, axis, true);
  return out;
}

at::Tensor sum_over(const at::Tensor& x, const std::vector<int64_t>& axes) { return at::sum(x, axes, true, x.scalar_type()); }
at::Tensor mean_over(const at::Tensor& x, const std::vector<int64_t>& axes) {
  if (at::isFloatingType(x.scalar_type())) return at::mean(x, axes, true);
  int64_t count = 1;
  for (int64_t axis : axes) count *= x.size(axis);
  return at::div(sum_over(x, axes), std::max<int64_t>(count, 1), "trunc");
}
at::Tensor largest_over(const at::Tensor& x, const std::vector<int64_t>& axes) { return Extreme::apply(x, axes, true); }
at::Tensor smallest_over(const at::Tensor& x, const std::vector<int64_t>& axes) { return Extreme::apply(x, axes, false); }
at::Tensor all_over(const at::Tensor& x, const std::vector<int64_t>& axes) { return at::all(x, axes, true); }
at::Tensor any_over(const at::Tensor& x, const std::vector<int64_t>& axes) { return at::any(x, axes, true); }

// `compute` keeps the reduced dimensions, with size 1; here they go where the operator does not want them.
template <at::Tensor (*compute)(const at::Tensor&, const std::vector<int64_t>&)>
void reduce(const OpContext& op) {
  const Value& x = op.input("X");
  const std::vector<int64_t> axes = axes_of(op, x.tensor.dim());
  if (x.tensor.numel() == 0 && (compute == largest_over || compute == smallest_over))
    op.fail("variable '{}' is empty", op.input_name("X"));
  at::Tensor out = axes.empty() ? x.tensor : compute(x.tensor, axes);
  if (const int32_t number = op.attr<int32_t>("out_dtype"); number >= 0) out = out.to(scalar_type(op.dtype_attr("out_dtype")));
  if (!op.attr<bool>("keep_dim") && !axes.empty()) out = out.squeeze(axes);
  if (out.dim() == 0) out = out.reshape({1});
  const bool rows_stay = !axes.empty() && axes.front() != 0;
  op.set_output("Out", std::move(out), rows_stay ? x.lod : nullptr);
}

Status infer_reduction(graph::ShapeContext& context) {
  const auto& x = context.input("X");
  std::vector<int64_t> axes = integer_list(context.op(), "dim");
  std::vector<bool> gone(x.shape.size(), context.attribute<bool>("reduce_all") || axes.empty());
  for (int64_t axis : axes) {
    ASSIGN_OR_RETURN(const size_t at, axis_in(x, axis));
    gone[at] = true;
  }
  std::vector<int64_t> shape;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    if (!gone[i])
      shape.push_back(x.shape[i]);
    else if (context.attribute<bool>("keep_dim"))
      shape.push_back(1);
  }
  if (shape.empty()) shape = {1};
  const bool rows_stay = !gone.empty() && !gone[0];
  const auto out_dtype = context.attribute<int32_t>("out_dtype");
  context.set_output("Out", std::move(shape), out_dtype < 0 ? x.dtype : context.dtype_attribute("out_dtype", x.dtype),
                     rows_stay ? x.lod_level : 0);
  return {};
}

// Without axes: over all of them.
void settle_axes(graph::FunctionCall& call) {
  const bool all = call.value<std::vector<int32_t>>("dim", {}).empty() && call.value<std::vector<int64_t>>("dim", {}).empty();
  if (all) call.op.attributes["dim"] = std::vector<int32_t>{0};
  call.op.attributes["reduce_all"] = all;
}

OpRegistration described_reduction(OpRegistration op, const char* doc) {
  return op.doc(doc)
      .input("X", "any shape")
      .output("Out", "X without the axes; [1] where none is left")
      .attr("dim", std::vector<int32_t>{0}, "the axes; negative ones count from the end")
      .attr("keep_dim", false, "keep the axes, with size 1")
      .attr("reduce_all", false, "over all axes, whatever dim says")
      .attr("in_dtype", -1, "no effect")
      .attr("out_dtype", -1, "the element type of Out; -1: X's")
      .infer_shape(infer_reduction)
      .function({.signature = op.type() + "(input, dim=None, keep_dim=False, name=None)",
                 .targets = {{"input", "X"}},
                 .options = "ReduceOptions",
                 .prepare = settle_axes});
}

const OpRegistration kSum = described_reduction({"reduce_sum", &reduce<sum_over>}, "the sum");
const OpRegistration kMean = described_reduction({"reduce_mean", &reduce<mean_over>}, "the mean");
const OpRegistration kReduceMax = described_reduction({"reduce_max", &reduce<largest_over>},
                                                      "the largest value; every element that equals it gets the gradient");
const OpRegistration kReduceMin = described_reduction({"reduce_min", &reduce<smallest_over>},
                                                      "the smallest value; every element that equals it gets the gradient");
const OpRegistration kProd = described_reduction({"reduce_prod", &reduce<product_over>}, "the product");
const OpRegistration kAll = described_reduction({"reduce_all", &reduce<all_over>}, "whether all are true").no_gradient();
const OpRegistration kAny = described_reduction({"reduce_any", &reduce<any_over>}, "whether any is true").no_gradient();

Status infer_one_number(graph::ShapeContext& context) {
  context.set_output("Out", {1}, context.input("X").dtype);
  return {};
}

ARGOSY_OP("mean", [](const OpContext& op) { op.set_output("Out", at::mean(op.tensor("X")).reshape({1})); })
    .doc("The mean of all elements.")
    .input("X", "any shape")
    .output("Out", "[1]")
    .infer_shape(infer_one_number)
    .function({.signature = "mean(x, name=None)"});

ARGOSY_OP("squared_l2_norm", [](const OpContext& op) { op.set_output("Out", at::square(op.tensor("X")).sum().reshape({1})); })
    .doc("The sum of the squares of all elements.")
    .input("X", "any shape")
    .output("Out", "[1]")
    .infer_shape(infer_one_number);

// Whether a tensor as a whole is sound. isinf and isnan keep Paddle's declared element type; the value is a truth.
template <at::Tensor (*found)(const at::Tensor&)>
void examine(const OpContext& op) {
  op.set_output("Out", found(op.tensor("X")).reshape({1}));
}
at::Tensor all_finite(const at::Tensor& x) { return at::isfinite(x).all(); }
at::Tensor any_infinite(const at::Tensor& x) { return at::isinf(x).any(); }
at::Tensor any_nan(const at::Tensor& x) { return at::isnan(x).any(); }

ARGOSY_OP("isfinite", &examine<all_finite>)
    .doc("Whether every element is finite.")
    .input("X", "any shape")
    .output("Out", "[1], bool")
    .infer_shape([](graph::ShapeContext& context) {
      context.set_output("Out", {1}, graph::DType::boolean);
      return Status();
    })
    .no_gradient()
    .function({.signature = "isfinite(x)"});

ARGOSY_OP("isinf", &examine<any_infinite>)
    .doc("Whether any element is infinite.")
    .input("X", "any shape")
    .output("Out", "[1], bool")
    .infer_shape(infer_one_number)
    .no_gradient()
    .function({.signature = "has_inf(x)"});

ARGOSY_OP("isnan", &examine<any_nan>)
    .doc("Whether any element is not a number.")
    .input("X", "any shape")
    .output("Out", "[1], bool")
    .infer_shape(infer_one_number)
    .no_gradient()
    .function({.signature = "has_nan(x)"});

}  // namespace
}  // namespace argosy::engine
