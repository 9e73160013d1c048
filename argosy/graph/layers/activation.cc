#include "argosy/graph/layers/activation.h"

namespace argosy::layers {

using graph::AttributeMap;
using graph::LayerHelper;

namespace {

Variable unary(const char* type, const Variable& x, const std::string& name, AttributeMap attributes = {}) {
  return LayerHelper(type, name).append_unary(type, x, std::move(attributes));
}

}  // namespace

Variable relu(const Variable& x, const std::string& name) { return unary("relu", x, name); }
Variable sigmoid(const Variable& x, const std::string& name) { return unary("sigmoid", x, name); }
Variable logsigmoid(const Variable& x, const std::string& name) { return unary("logsigmoid", x, name); }
Variable tanh(const Variable& x, const std::string& name) { return unary("tanh", x, name); }
Variable tanh_shrink(const Variable& x, const std::string& name) { return unary("tanh_shrink", x, name); }
Variable softsign(const Variable& x, const std::string& name) { return unary("softsign", x, name); }
Variable softplus(const Variable& x, const std::string& name) { return unary("softplus", x, name); }
Variable exp(const Variable& x, const std::string& name) { return unary("exp", x, name); }
Variable log(const Variable& x, const std::string& name) { return unary("log", x, name); }
Variable sqrt(const Variable& x, const std::string& name) { return unary("sqrt", x, name); }
Variable rsqrt(const Variable& x, const std::string& name) { return unary("rsqrt", x, name); }
Variable square(const Variable& x, const std::string& name) { return unary("square", x, name); }
Variable abs(const Variable& x, const std::string& name) { return unary("abs", x, name); }
Variable ceil(const Variable& x, const std::string& name) { return unary("ceil", x, name); }
Variable floor(const Variable& x, const std::string& name) { return unary("floor", x, name); }
Variable round(const Variable& x, const std::string& name) { return unary("round", x, name); }
Variable reciprocal(const Variable& x, const std::string& name) { return unary("reciprocal", x, name); }
Variable sin(const Variable& x, const std::string& name) { return unary("sin", x, name); }
Variable cos(const Variable& x, const std::string& name) { return unary("cos", x, name); }
Variable asin(const Variable& x, const std::string& name) { return unary("asin", x, name); }
Variable acos(const Variable& x, const std::string& name) { return unary("acos", x, name); }
Variable atan(const Variable& x, const std::string& name) { return unary("atan", x, name); }
Variable erf(const Variable& x) { return unary("erf", x, ""); }
Variable sign(const Variable& x) { return unary("sign", x, ""); }

Variable relu6(const Variable& x, float threshold, const std::string& name) {
  return unary("relu6", x, name, {{"threshold", threshold}});
}
Variable leaky_relu(const Variable& x, float alpha, const std::string& name) {
  return unary("leaky_relu", x, name, {{"alpha", alpha}});
}
Variable elu(const Variable& x, float alpha, const std::string& name) { return unary("elu", x, name, {{"alpha", alpha}}); }
Variable gelu(const Variable& x, bool approximate) { return unary("gelu", x, "", {{"approximate", approximate}}); }
Variable swish(const Variable& x, float beta, const std::string& name) { return unary("swish", x, name, {{"beta", beta}}); }
Variable hard_sigmoid(const Variable& x, float slope, float offset, const std::string& name) {
  return unary("hard_sigmoid", x, name, {{"slope", slope}, {"offset", offset}});
}
Variable hard_swish(const Variable& x, float threshold, float scale, float offset, const std::string& name) {
  return unary("hard_swish", x, name, {{"threshold", threshold}, {"scale", scale}, {"offset", offset}});
}
Variable pow(const Variable& x, float factor, const std::string& name) { return unary("pow", x, name, {{"factor", factor}}); }

Variable pow(const Variable& x, const Variable& factor, const std::string& name) {
  LayerHelper helper("pow", name);
  Variable(factor).set_stop_gradient(true);
  const Variable out = helper.create_tmp(x.dtype());
  helper.append_op(
      {.type = "pow", .inputs = {{"X", {x.name()}}, {"FactorTensor", {factor.name()}}}, .outputs = {{"Out", {out.name()}}}});
  return out;
}

Variable softmax(const Variable& input, int32_t axis, const std::string& name) {
  return unary("softmax", input, name, {{"axis", axis}});
}

Variable log_softmax(const Variable& input, int32_t axis, std::optional<DType> dtype, const std::string& name) {
  LayerHelper helper("log_softmax", name);
  Variable x = input;
  if (dtype) {
    x = helper.create_tmp(*dtype);
    helper.append_op(
        {.type = "cast",
         .inputs = {{"X", {input.name()}}},
         .outputs = {{"Out", {x.name()}}},
         .attributes = {{"in_dtype", static_cast<int32_t>(input.dtype())}, {"out_dtype", static_cast<int32_t>(*dtype)}}});
  }
  return helper.append_unary("log", helper.append_unary("softmax", x, {{"axis", axis}}));
}

}  // namespace argosy::layers
