#include "argosy/graph/layers/activation.h"
#include "argosy/graph/layers/math.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"

// Functions of elements, arithmetic, reductions, comparisons: the arguments as fluid.layers has them.
namespace argosy::python {

using graph::DType;
using graph::Variable;

namespace {

// name(x, name=None)
template <Variable (*function)(const Variable&, const std::string&)>
void bind_unary(py::module_& m, const char* name) {
  m.def(
      name, [](const Variable& x, const Text& layer) { return function(x, layer); }, py::arg("x"), py::arg("name") = py::none());
}

void bind_activations(py::module_& m) {
  bind_unary<layers::relu>(m, "relu");
  bind_unary<layers::sigmoid>(m, "sigmoid");
  bind_unary<layers::logsigmoid>(m, "logsigmoid");
  bind_unary<layers::tanh>(m, "tanh");
  bind_unary<layers::tanh_shrink>(m, "tanh_shrink");
  bind_unary<layers::softsign>(m, "softsign");
  bind_unary<layers::softplus>(m, "softplus");
  bind_unary<layers::exp>(m, "exp");
  bind_unary<layers::log>(m, "log");
  bind_unary<layers::sqrt>(m, "sqrt");
  bind_unary<layers::rsqrt>(m, "rsqrt");
  bind_unary<layers::square>(m, "square");
  bind_unary<layers::abs>(m, "abs");
  bind_unary<layers::ceil>(m, "ceil");
  bind_unary<layers::floor>(m, "floor");
  bind_unary<layers::round>(m, "round");
  bind_unary<layers::reciprocal>(m, "reciprocal");
  bind_unary<layers::sin>(m, "sin");
  bind_unary<layers::cos>(m, "cos");
  bind_unary<layers::asin>(m, "asin");
  bind_unary<layers::acos>(m, "acos");
  bind_unary<layers::atan>(m, "atan");
  bind_unary<layers::mean>(m, "mean");
  m.def("erf", &layers::erf, py::arg("x"));
  m.def("sign", &layers::sign, py::arg("x"));
  m.def("gelu", &layers::gelu, py::arg("x"), py::arg("approximate") = false);
  m.def(
      "relu6", [](const Variable& x, float threshold, const Text& name) { return layers::relu6(x, threshold, name); },
      py::arg("x"), py::arg("threshold") = 6.0f, py::arg("name") = py::none());
  m.def(
      "leaky_relu", [](const Variable& x, float alpha, const Text& name) { return layers::leaky_relu(x, alpha, name); },
      py::arg("x"), py::arg("alpha") = 0.02f, py::arg("name") = py::none());
  m.def(
      "elu", [](const Variable& x, float alpha, const Text& name) { return layers::elu(x, alpha, name); }, py::arg("x"),
      py::arg("alpha") = 1.0f, py::arg("name") = py::none());
  m.def(
      "swish", [](const Variable& x, float beta, const Text& name) { return layers::swish(x, beta, name); }, py::arg("x"),
      py::arg("beta") = 1.0f, py::arg("name") = py::none());
  m.def(
      "hard_sigmoid",
      [](const Variable& x, float slope, float offset, const Text& name) { return layers::hard_sigmoid(x, slope, offset, name); },
      py::arg("x"), py::arg("slope") = 0.2f, py::arg("offset") = 0.5f, py::arg("name") = py::none());
  m.def(
      "hard_swish",
      [](const Variable& x, float threshold, float scale, float offset, const Text& name) {
        return layers::hard_swish(x, threshold, scale, offset, name);
      },
      py::arg("x"), py::arg("threshold") = 6.0f, py::arg("scale") = 6.0f, py::arg("offset") = 3.0f, py::arg("name") = py::none());
  m.def(
      "pow", [](const Variable& x, const Variable& factor, const Text& name) { return layers::pow(x, factor, name); },
      py::arg("x"), py::arg("factor"), py::arg("name") = py::none());
  m.def(
      "pow", [](const Variable& x, float factor, const Text& name) { return layers::pow(x, factor, name); }, py::arg("x"),
      py::arg("factor") = 1.0f, py::arg("name") = py::none());
  m.def(
      "softmax", [](const Variable& input, bool, const Text& name, int32_t axis) { return layers::softmax(input, axis, name); },
      py::arg("input"), py::arg("use_cudnn") = false, py::arg("name") = py::none(), py::arg("axis") = -1);
  m.def(
      "log_softmax",
      [](const Variable& input, std::optional<int32_t> axis, const py::object& dtype, const Text& name) {
        const auto wanted = dtype.is_none() ? std::nullopt : std::optional(dtype_from_python(dtype));
        return layers::log_softmax(input, axis.value_or(-1), wanted, name);
      },
      py::arg("input"), py::arg("axis") = py::none(), py::arg("dtype") = py::none(), py::arg("name") = py::none());
}

template <Variable (*function)(const Variable&, const Variable&, const layers::ElementwiseOptions&)>
void bind_elementwise(py::module_& m, const char* name) {
  m.def(
      name,
      [](const Variable& x, const Variable& y, int32_t axis, const Text& act, const Text& layer) {
        return function(x, y, {.axis = axis, .act = act, .name = layer});
      },
      py::arg("x"), py::arg("y"), py::arg("axis") = -1, py::arg("act") = py::none(), py::arg("name") = py::none());
}

std::vector<int32_t> axes_from_python(const py::object& dim) {
  if (dim.is_none()) return {};
  const auto axes = shape_from_python(dim);
  return {axes.begin(), axes.end()};
}

template <Variable (*function)(const Variable&, const layers::ReduceOptions&)>
void bind_reduction(py::module_& m, const char* name) {
  m.def(
      name,
      [](const Variable& input, const py::object& dim, bool keep_dim, const Text& layer) {
        return function(input, {.dim = axes_from_python(dim), .keep_dim = keep_dim, .name = layer});
      },
      py::arg("input"), py::arg("dim") = py::none(), py::arg("keep_dim") = false, py::arg("name") = py::none());
}

template <Variable (*function)(const Variable&, const Variable&, const Variable&)>
void bind_comparison(py::module_& m, const char* name) {
  m.def(
      name, [](const Variable& x, const Variable& y, const VariableOrNone& cond) { return function(x, y, cond); }, py::arg("x"),
      py::arg("y"), py::arg("cond") = py::none());
}

template <Variable (*function)(const Variable&, const Variable&, const Variable&, const std::string&)>
void bind_logical(py::module_& m, const char* name) {
  m.def(
      name,
      [](const Variable& x, const Variable& y, const VariableOrNone& out, const Text& layer) {
        return function(x, y, out, layer);
      },
      py::arg("x"), py::arg("y"), py::arg("out") = py::none(), py::arg("name") = py::none());
}

void bind_arithmetic(py::module_& m) {
  bind_elementwise<layers::elementwise_add>(m, "elementwise_add");
  bind_elementwise<layers::elementwise_sub>(m, "elementwise_sub");
  bind_elementwise<layers::elementwise_mul>(m, "elementwise_mul");
  bind_elementwise<layers::elementwise_div>(m, "elementwise_div");
  bind_elementwise<layers::elementwise_max>(m, "elementwise_max");
  bind_elementwise<layers::elementwise_min>(m, "elementwise_min");
  bind_elementwise<layers::elementwise_pow>(m, "elementwise_pow");
  bind_elementwise<layers::elementwise_mod>(m, "elementwise_mod");
  bind_elementwise<layers::elementwise_floordiv>(m, "elementwise_floordiv");
  bind_reduction<layers::reduce_sum>(m, "reduce_sum");
  bind_reduction<layers::reduce_mean>(m, "reduce_mean");
  bind_reduction<layers::reduce_max>(m, "reduce_max");
  bind_reduction<layers::reduce_min>(m, "reduce_min");
  bind_reduction<layers::reduce_prod>(m, "reduce_prod");
  bind_reduction<layers::reduce_all>(m, "reduce_all");
  bind_reduction<layers::reduce_any>(m, "reduce_any");
  m.def("sum", [](const OneOrMore& x) { return layers::sum(x.values); }, py::arg("x"));
  m.def(
      "sums", [](const OneOrMore& input, const VariableOrNone& out) { return layers::sums(input.values, out); }, py::arg("input"),
      py::arg("out") = py::none());
}

void bind_products(py::module_& m) {
  m.def(
      "matmul",
      [](const Variable& x, const Variable& y, bool transpose_x, bool transpose_y, float alpha, const Text& name) {
        return layers::matmul(x, y, {.transpose_x = transpose_x, .transpose_y = transpose_y, .alpha = alpha, .name = name});
      },
      py::arg("x"), py::arg("y"), py::arg("transpose_x") = false, py::arg("transpose_y") = false, py::arg("alpha") = 1.0f,
      py::arg("name") = py::none());
  m.def(
      "mul",
      [](const Variable& x, const Variable& y, int32_t x_num_col_dims, int32_t y_num_col_dims, const Text& name) {
        return layers::mul(x, y, x_num_col_dims, y_num_col_dims, name);
      },
      py::arg("x"), py::arg("y"), py::arg("x_num_col_dims") = 1, py::arg("y_num_col_dims") = 1, py::arg("name") = py::none());
  m.def(
      "bmm", [](const Variable& x, const Variable& y, const Text& name) { return layers::bmm(x, y, name); }, py::arg("x"),
      py::arg("y"), py::arg("name") = py::none());
  m.def(
      "dot", [](const Variable& x, const Variable& y, const Text& name) { return layers::dot(x, y, name); }, py::arg("x"),
      py::arg("y"), py::arg("name") = py::none());
  m.def(
      "scale",
      [](const Variable& x, const Variable& scale, float bias, bool bias_after_scale, const Text& act, const Text& name) {
        return layers::scale(x, scale, {.bias = bias, .bias_after_scale = bias_after_scale, .act = act, .name = name});
      },
      py::arg("x"), py::arg("scale"), py::arg("bias") = 0.0f, py::arg("bias_after_scale") = true, py::arg("act") = py::none(),
      py::arg("name") = py::none());
  m.def(
      "scale",
      [](const Variable& x, float scale, float bias, bool bias_after_scale, const Text& act, const Text& name) {
        return layers::scale(x, scale, {.bias = bias, .bias_after_scale = bias_after_scale, .act = act, .name = name});
      },
      py::arg("x"), py::arg("scale") = 1.0f, py::arg("bias") = 0.0f, py::arg("bias_after_scale") = true,
      py::arg("act") = py::none(), py::arg("name") = py::none());
  m.def(
      "clip", [](const Variable& x, float min, float max, const Text& name) { return layers::clip(x, min, max, name); },
      py::arg("x"), py::arg("min"), py::arg("max"), py::arg("name") = py::none());
  m.def(
      "clip_by_norm", [](const Variable& x, float max_norm, const Text& name) { return layers::clip_by_norm(x, max_norm, name); },
      py::arg("x"), py::arg("max_norm"), py::arg("name") = py::none());
  m.def(
      "l2_normalize",
      [](const Variable& x, std::optional<int32_t> axis, float epsilon, const Text& name) {
        return layers::l2_normalize(x, axis.value_or(1), epsilon, name);
      },
      py::arg("x"), py::arg("axis"), py::arg("epsilon") = 1e-12f, py::arg("name") = py::none());
  m.def(
      "cumsum",
      [](const Variable& x, std::optional<int32_t> axis, std::optional<bool> exclusive, std::optional<bool> reverse) {
        return layers::cumsum(x, axis, exclusive.value_or(false), reverse.value_or(false));
      },
      py::arg("x"), py::arg("axis") = py::none(), py::arg("exclusive") = py::none(), py::arg("reverse") = py::none());
  m.def("increment", &layers::increment, py::arg("x"), py::arg("value") = 1.0f, py::arg("in_place") = true);
}

void bind_logic(py::module_& m) {
  m.def(
      "less_than",
      [](const Variable& x, const Variable& y, std::optional<bool> force_cpu, const VariableOrNone& cond) {
        return layers::less_than(x, y, force_cpu.value_or(false), cond);
      },
      py::arg("x"), py::arg("y"), py::arg("force_cpu") = py::none(), py::arg("cond") = py::none());
  bind_comparison<layers::less_equal>(m, "less_equal");
  bind_comparison<layers::greater_than>(m, "greater_than");
  bind_comparison<layers::greater_equal>(m, "greater_equal");
  bind_comparison<layers::equal>(m, "equal");
  bind_comparison<layers::not_equal>(m, "not_equal");
  bind_logical<layers::logical_and>(m, "logical_and");
  bind_logical<layers::logical_or>(m, "logical_or");
  bind_logical<layers::logical_xor>(m, "logical_xor");
  m.def(
      "logical_not",
      [](const Variable& x, const VariableOrNone& out, const Text& name) { return layers::logical_not(x, out, name); },
      py::arg("x"), py::arg("out") = py::none(), py::arg("name") = py::none());
  m.def("isfinite", &layers::isfinite, py::arg("x"));
  m.def("has_nan", &layers::has_nan, py::arg("x"));
  m.def("has_inf", &layers::has_inf, py::arg("x"));
}

}  // namespace

void bind_layers_math(py::module_& m) {
  bind_activations(m);
  bind_arithmetic(m);
  bind_products(m);
  bind_logic(m);
}

}  // namespace argosy::python
