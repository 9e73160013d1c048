// Binary operators with Paddle's broadcasting: y's dimensions are matched to x's from `axis` on.
#include <ATen/ATen.h>

#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

// y viewed so that torch's broadcasting does what `axis` asks for.
at::Tensor aligned(const OpContext& op, const at::Tensor& x, const at::Tensor& y) {
  const int64_t axis = op.attr<int32_t>("axis");
  if (axis < 0 || y.dim() >= x.dim() || axis + y.dim() == x.dim()) return y;
  std::vector<int64_t> shape(y.sizes().begin(), y.sizes().end());
  while (!shape.empty() && shape.back() == 1 && axis + static_cast<int64_t>(shape.size()) > x.dim()) shape.pop_back();
  const int64_t trailing = x.dim() - axis - static_cast<int64_t>(shape.size());
  if (trailing < 0) op.fail("axis {} and shape {} do not fit into {} dimensions", axis, graph::shape_to_string(shape), x.dim());
  shape.insert(shape.end(), static_cast<size_t>(trailing), 1);
  return y.reshape(shape);
}

template <at::Tensor (*compute)(const at::Tensor&, const at::Tensor&)>
void binary(const OpContext& op) {
  const Value& x = op.input("X");
  const Value& y = op.input("Y");
  const at::Tensor left = x.tensor.dim() >= y.tensor.dim() ? x.tensor : aligned(op, y.tensor, x.tensor);
  const at::Tensor right = x.tensor.dim() >= y.tensor.dim() ? aligned(op, x.tensor, y.tensor) : y.tensor;
  op.set_output("Out", compute(left, right), x.lod);
}

Status infer_elementwise(graph::ShapeContext& context) {
  const auto& x = context.input("X");
  ASSIGN_OR_RETURN(auto shape, graph::broadcast_shape(x.shape, context.input("Y").shape, context.attribute<int32_t>("axis")));
  context.set_output("Out", std::move(shape), x.dtype, x.lod_level);
  return {};
}

Status infer_comparison(graph::ShapeContext& context) {
  RETURN_IF_ERROR(infer_elementwise(context));
  const auto& x = context.input("X");
  ASSIGN_OR_RETURN(auto shape, graph::broadcast_shape(x.shape, context.input("Y").shape, context.attribute<int32_t>("axis")));
  context.set_output("Out", std::move(shape), graph::DType::boolean, x.lod_level);
  return {};
}

OpRegistration described_elementwise(OpRegistration op, const char* text, graph::ShapeRule rule) {
  return op.doc(text)
      .input("X", "left")
      .input("Y", "right; may have fewer dimensions")
      .output("Out", "like the larger of both")
      .attr("axis", -1, "where Y's dimensions begin in X's; -1: they are the last ones")
      .attr("x_data_format", std::string(), "no effect")
      .attr("y_data_format", std::string(), "no effect")
      .infer_shape(std::move(rule));
}

OpRegistration joined(OpRegistration op, const char* text) {
  op = described_elementwise(std::move(op), text, infer_elementwise);
  return op.function({.signature = op.type() + "(x, y, axis=-1, act=None, name=None)", .options = "ElementwiseOptions"});
}

OpRegistration compared(OpRegistration op, const char* text, const char* arguments = "(x, y, cond=None)") {
  op = described_elementwise(std::move(op), text, infer_comparison)
           .attr("force_cpu", false, "no effect: there is one device")
           .no_gradient();
  return op.function({.signature = op.type() + arguments, .targets = {{"cond", "Out"}}, .stop_gradient = true});
}

at::Tensor add(const at::Tensor& x, const at::Tensor& y) { return at::add(x, y); }
at::Tensor sub(const at::Tensor& x, const at::Tensor& y) { return at::sub(x, y); }
at::Tensor multiply(const at::Tensor& x, const at::Tensor& y) { return at::mul(x, y); }
at::Tensor divide(const at::Tensor& x, const at::Tensor& y) {
  return at::isIntegralType(x.scalar_type(), false) ? at::div(x, y, "trunc") : at::div(x, y);
}
// Where both are equal the gradient goes to y, as in Paddle; torch would give half to each.
at::Tensor maximum(const at::Tensor& x, const at::Tensor& y) { return at::where(x > y, x, y); }
at::Tensor minimum(const at::Tensor& x, const at::Tensor& y) { return at::where(x < y, x, y); }
at::Tensor power(const at::Tensor& x, const at::Tensor& y) { return at::pow(x, y); }
at::Tensor remainder(const at::Tensor& x, const at::Tensor& y) { return at::remainder(x, y); }
at::Tensor floor_divide(const at::Tensor& x, const at::Tensor& y) { return at::div(x, y, "trunc"); }

const OpRegistration kAdd = joined({"elementwise_add", &binary<add>}, "x + y");
const OpRegistration kSub = joined({"elementwise_sub", &binary<sub>}, "x - y");
const OpRegistration kMul = joined({"elementwise_mul", &binary<multiply>}, "x * y");
const OpRegistration kDiv = joined({"elementwise_div", &binary<divide>}, "x / y; whole numbers are cut towards zero");
const OpRegistration kMax = joined({"elementwise_max", &binary<maximum>}, "the larger of both");
const OpRegistration kMin = joined({"elementwise_min", &binary<minimum>}, "the smaller of both");
const OpRegistration kPow = joined({"elementwise_pow", &binary<power>}, "x to the power of y");
const OpRegistration kMod = joined({"elementwise_mod", &binary<remainder>}, "the remainder of x / y, with y's sign");
const OpRegistration kFloorDiv = joined({"elementwise_floordiv", &binary<floor_divide>}, "x / y as a whole number");

at::Tensor less(const at::Tensor& x, const at::Tensor& y) { return at::lt(x, y); }
at::Tensor less_equal(const at::Tensor& x, const at::Tensor& y) { return at::le(x, y); }
at::Tensor greater(const at::Tensor& x, const at::Tensor& y) { return at::gt(x, y); }
at::Tensor greater_equal(const at::Tensor& x, const at::Tensor& y) { return at::ge(x, y); }
at::Tensor equal(const at::Tensor& x, const at::Tensor& y) { return at::eq(x, y); }
at::Tensor not_equal(const at::Tensor& x, const at::Tensor& y) { return at::ne(x, y); }

const OpRegistration kLess = compared({"less_than", &binary<less>}, "x < y", "(x, y, force_cpu=None, cond=None)");
const OpRegistration kLessEqual = compared({"less_equal", &binary<less_equal>}, "x <= y");
const OpRegistration kGreater = compared({"greater_than", &binary<greater>}, "x > y");
const OpRegistration kGreaterEqual = compared({"greater_equal", &binary<greater_equal>}, "x >= y");
const OpRegistration kEqual = compared({"equal", &binary<equal>}, "x == y");
const OpRegistration kNotEqual = compared({"not_equal", &binary<not_equal>}, "x != y");

}  // namespace
}  // namespace argosy::engine
