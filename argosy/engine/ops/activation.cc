// Functions of one number, applied to every element: activations and the elementary functions.
#include <ATen/ATen.h>

#include "argosy/engine/program/op.h"
#include "argosy/graph/function_call.h"

namespace argosy::engine {
namespace {

struct Parameter {
  const char* name;
  graph::Attribute otherwise;
  const char* doc;
};

struct Unary {
  const char* type;
  Kernel kernel;
  const char* doc;
  std::vector<Parameter> parameters = {};
  const char* signature = nullptr;  // of the function; null: (x, the parameters, name=None), "" where there is none
};

template <auto compute>
void map(const OpContext& op) {
  const Value& x = op.input("X");
  op.set_output("Out", compute(x.tensor), x.lod);
}

// The same for functions that look at attributes.
template <auto compute>
void map_with(const OpContext& op) {
  const Value& x = op.input("X");
  op.set_output("Out", compute(op, x.tensor), x.lod);
}

double number_attribute(const OpContext& op, const char* name) { return op.attr<float>(name); }

// Halves go away from zero, as in C; torch's own rounding takes them to the even neighbour.
at::Tensor round_half_away(const at::Tensor& x) {
  const at::Tensor whole = at::trunc(x);
  return whole + at::sign(x) * ((x - whole).abs() >= 0.5);
}

// Between `low` and `high`; no gradient at the bounds themselves.
at::Tensor limit(const at::Tensor& x, double low, double high) { return at::hardtanh(x, low, high); }

at::Tensor gelu(const OpContext& op, const at::Tensor& x) { return at::gelu(x, op.attr<bool>("approximate") ? "tanh" : "none"); }

at::Tensor hard_swish(const OpContext& op, const at::Tensor& x) {
  return x * limit(x + number_attribute(op, "offset"), 0, number_attribute(op, "threshold")) / number_attribute(op, "scale");
}

at::Tensor swish(const OpContext& op, const at::Tensor& x) {
  const double beta = number_attribute(op, "beta");
  return beta == 1 ? at::silu(x) : x * at::sigmoid(x * beta);
}

at::Tensor power_by_factor(const OpContext& op, const at::Tensor& x) {
  if (!op.has_input("FactorTensor")) return at::pow(x, number_attribute(op, "factor")).to(x.scalar_type());
  return at::pow(x, op.tensor("FactorTensor").detach()).to(x.scalar_type());
}

using T = const at::Tensor&;
using C = const OpContext&;

const std::vector<Unary> kUnary = {
    {"relu", map<[](T x) { return at::relu(x); }>, "max(x, 0)"},
    {"sigmoid", map<[](T x) { return at::sigmoid(x); }>, "1 / (1 + exp(-x))"},
    {"logsigmoid", map<[](T x) { return at::log_sigmoid(x); }>, "log(sigmoid(x))"},
    {"tanh", map<[](T x) { return at::tanh(x); }>, "the hyperbolic tangent"},
    {"tanh_shrink", map<[](T x) { return x - at::tanh(x); }>, "x - tanh(x)"},
    {"softsign", map<[](T x) { return x / (1 + at::abs(x)); }>, "x / (1 + |x|)"},
    {"silu", map<[](T x) { return at::silu(x); }>, "x * sigmoid(x)", {}, ""},
    {"exp", map<[](T x) { return at::exp(x); }>, "e to the power of x"},
    {"log", map<[](T x) { return at::log(x); }>, "the natural logarithm"},
    {"sqrt", map<[](T x) { return at::sqrt(x); }>, "the square root"},
    {"rsqrt", map<[](T x) { return at::rsqrt(x); }>, "1 / sqrt(x)"},
    {"square", map<[](T x) { return at::square(x); }>, "x * x"},
    {"abs", map<[](T x) { return at::abs(x); }>, "|x|"},
    {"ceil", map<[](T x) { return at::ceil(x); }>, "the next whole number above; no gradient"},
    {"floor", map<[](T x) { return at::floor(x); }>, "the next whole number below; no gradient"},
    {"round", map<round_half_away>, "the nearest whole number, halves away from zero; no gradient"},
    {"reciprocal", map<[](T x) { return at::reciprocal(x); }>, "1 / x"},
    {"sin", map<[](T x) { return at::sin(x); }>, "the sine"},
    {"cos", map<[](T x) { return at::cos(x); }>, "the cosine"},
    {"asin", map<[](T x) { return at::asin(x); }>, "the inverse of the sine"},
    {"acos", map<[](T x) { return at::acos(x); }>, "the inverse of the cosine"},
    {"atan", map<[](T x) { return at::atan(x); }>, "the inverse of the tangent"},
    {"erf", map<[](T x) { return at::erf(x); }>, "the error function", {}, "erf(x)"},
    {"sign", map<[](T x) { return at::sign(x); }>, "-1, 0 or 1; no gradient", {}, "sign(x)"},
    {"leaky_relu",
     map_with<[](C op, T x) { return at::leaky_relu(x, number_attribute(op, "alpha")); }>,
     "x above zero, alpha * x below",
     {{"alpha", 0.02f, "the slope below zero"}}},
    {"elu",
     map_with<[](C op, T x) { return at::elu(x, number_attribute(op, "alpha")); }>,
     "x above zero, alpha * (exp(x) - 1) below",
     {{"alpha", 1.0f, "minus the limit at -infinity"}}},
    {"gelu",
     map_with<gelu>,
     "x times the normal distribution function of x",
     {{"approximate", false, "by a tanh formula"}},
     "gelu(x, approximate=False)"},
    {"relu6",
     map_with<[](C op, T x) { return limit(x, 0, number_attribute(op, "threshold")); }>,
     "min(max(x, 0), threshold)",
     {{"threshold", 6.0f, "the upper limit"}}},
    {"softplus",
     map_with<[](C op, T x) { return at::softplus(x, number_attribute(op, "beta"), number_attribute(op, "threshold")); }>,
     "log(1 + exp(beta * x)) / beta",
     {{"beta", 1.0f, "how steep"}, {"threshold", 20.0f, "x itself where beta * x is above"}},
     "softplus(x, name=None)"},
    {"swish", map_with<swish>, "x * sigmoid(beta * x)", {{"beta", 1.0f, "how steep"}}},
    {"hard_sigmoid",
     map_with<[](C op, T x) { return limit(x * number_attribute(op, "slope") + number_attribute(op, "offset"), 0, 1); }>,
     "slope * x + offset, between 0 and 1",
     {{"slope", 0.2f, "the slope"}, {"offset", 0.5f, "the value at 0"}}},
    {"hard_swish",
     map_with<hard_swish>,
     "x * min(max(x + offset, 0), threshold) / scale",
     {{"threshold", 6.0f, "upper limit"}, {"scale", 6.0f, "divisor"}, {"offset", 3.0f, "added first"}}},
};

std::string literal(const graph::Attribute& value) {
  if (const bool* truth = std::get_if<bool>(&value)) return *truth ? "True" : "False";
  const std::string digits = fmt::format("{}", std::get<float>(value));
  return digits.find('.') == std::string::npos ? digits + ".0" : digits;
}

std::string signature_of(const Unary& unary) {
  if (unary.signature != nullptr) return unary.signature;
  std::string text = fmt::format("{}(x, ", unary.type);
  for (const Parameter& parameter : unary.parameters)
    text += fmt::format("{}={}, ", parameter.name, literal(parameter.otherwise));
  return text + "name=None)";
}

OpRegistration described_unary(OpRegistration op, const Unary& unary) {
  op.doc(unary.doc).input("X", "any shape").output("Out", "like X").infer_shape(graph::same_shape_as_x);
  for (const Parameter& parameter : unary.parameters) op.attr(parameter.name, parameter.otherwise, parameter.doc);
  if (const std::string signature = signature_of(unary); !signature.empty()) op.function({.signature = signature});
  return op;
}

std::vector<OpRegistration> register_unary() {
  std::vector<OpRegistration> registered;
  for (const Unary& unary : kUnary) registered.push_back(described_unary({unary.type, unary.kernel}, unary));
  return registered;
}

const std::vector<OpRegistration> kRegistered = register_unary();

ARGOSY_OP("pow", map_with<power_by_factor>)
    .doc("x to the power of a number.")
    .input("X", "any shape")
    .optional_input("FactorTensor", "the power, where it is computed; takes no gradient")
    .output("Out", "like X")
    .attr("factor", 1.0f, "the power")
    .infer_shape(graph::same_shape_as_x)
    .function({.signature = "pow(x, factor=1.0, name=None)",
               .targets = {{"factor", "factor|FactorTensor"}},
               .prepare = [](graph::FunctionCall& call) {
                 const graph::Argument& factor = call.argument("factor");
                 if (factor.variable() != nullptr && factor.given()) graph::Variable(*factor.variable()).set_stop_gradient(true);
               }});

// An output along one axis whose entries are normalised; the LoD stays, because rows stay rows.
ARGOSY_OP("softmax", map_with<[](C op, T x) { return at::softmax(x, op.attr<int32_t>("axis")); }>)
    .doc("exp(x) divided by its sum along an axis.")
    .input("X", "any shape")
    .output("Out", "like X")
    .attr("axis", -1, "the axis that adds up to one")
    .attr("is_test", false, "no effect")
    .infer_shape(graph::same_shape_as_x)
    .function({.signature = "softmax(input, use_cudnn=False, name=None, axis=-1)",
               .targets = {{"input", "X"}, {"use_cudnn", "-"}}});

ARGOSY_OP("log_softmax", map_with<[](C op, T x) { return at::log_softmax(x, op.attr<int32_t>("axis")); }>)
    .doc("The logarithm of softmax, computed without loss.")
    .input("X", "any shape")
    .output("Out", "like X")
    .attr("axis", -1, "the axis")
    .infer_shape(graph::same_shape_as_x);

}  // namespace
}  // namespace argosy::engine
