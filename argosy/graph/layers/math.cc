#include "argosy/graph/layers/math.h"

#include "argosy/base/error.h"

namespace argosy::layers {

using graph::AttributeMap;
using graph::LayerHelper;
using graph::OpDesc;

namespace {

OpDesc binary_op(const char* type, const Variable& x, const Variable& y, const Variable& out, AttributeMap attributes = {}) {
  return {.type = type,
          .inputs = {{"X", {x.name()}}, {"Y", {y.name()}}},
          .outputs = {{"Out", {out.name()}}},
          .attributes = std::move(attributes)};
}

Variable binary(const char* type, const Variable& x, const Variable& y, const std::string& name, AttributeMap attributes = {}) {
  LayerHelper helper(type, name);
  const Variable out = helper.create_tmp(x.dtype());
  helper.append_op(binary_op(type, x, y, out, std::move(attributes)));
  return out;
}

Variable elementwise(const char* type, const Variable& x, const Variable& y, const ElementwiseOptions& options) {
  LayerHelper helper(type, options.name);
  const Variable out = helper.create_tmp(x.dtype());
  helper.append_op(binary_op(type, x, y, out, {{"axis", options.axis}}));
  return helper.append_activation(out, options.act);
}

Variable reduce(const char* type, const Variable& input, const ReduceOptions& options) {
  LayerHelper helper(type, options.name);
  const std::vector<int32_t> dim = options.dim.empty() ? std::vector<int32_t>{0} : options.dim;
  return helper.append_unary(type, input, {{"dim", dim}, {"keep_dim", options.keep_dim}, {"reduce_all", options.dim.empty()}});
}

Variable compare(const char* type, const Variable& x, const Variable& y, bool force_cpu, const Variable& cond) {
  LayerHelper helper(type, "");
  const Variable out = cond ? cond : helper.create_tmp(kBool, /*stop_gradient=*/true);
  helper.append_op(binary_op(type, x, y, out, {{"force_cpu", force_cpu}}));
  return out;
}

Variable logical(const char* type, const Variable& x, const Variable& y, const Variable& out, const std::string& name) {
  LayerHelper helper(type, name);
  const Variable made = out ? out : helper.create_tmp(kBool);
  helper.append_op(binary_op(type, x, y, made));
  return made;
}

Variable add_up(const std::vector<Variable>& x, const Variable& out) {
  if (x.empty()) throw Error(Status::invalid_argument("sum: no variables were given, expected one or more"));
  LayerHelper helper("sum", "");
  const Variable total = out ? out : helper.create_tmp(x[0].dtype());
  helper.append_op({.type = "sum", .inputs = {{"X", names_of(x)}}, .outputs = {{"Out", {total.name()}}}});
  return total;
}

Variable unary(const char* type, const Variable& x, const std::string& name, AttributeMap attributes = {}) {
  return LayerHelper(type, name).append_unary(type, x, std::move(attributes));
}

}  // namespace

Variable elementwise_add(const Variable& x, const Variable& y, const ElementwiseOptions& o) {
  return elementwise("elementwise_add", x, y, o);
}
Variable elementwise_sub(const Variable& x, const Variable& y, const ElementwiseOptions& o) {
  return elementwise("elementwise_sub", x, y, o);
}
Variable elementwise_mul(const Variable& x, const Variable& y, const ElementwiseOptions& o) {
  return elementwise("elementwise_mul", x, y, o);
}
Variable elementwise_div(const Variable& x, const Variable& y, const ElementwiseOptions& o) {
  return elementwise("elementwise_div", x, y, o);
}
Variable elementwise_max(const Variable& x, const Variable& y, const ElementwiseOptions& o) {
  return elementwise("elementwise_max", x, y, o);
}
Variable elementwise_min(const Variable& x, const Variable& y, const ElementwiseOptions& o) {
  return elementwise("elementwise_min", x, y, o);
}
Variable elementwise_pow(const Variable& x, const Variable& y, const ElementwiseOptions& o) {
  return elementwise("elementwise_pow", x, y, o);
}
Variable elementwise_mod(const Variable& x, const Variable& y, const ElementwiseOptions& o) {
  return elementwise("elementwise_mod", x, y, o);
}
Variable elementwise_floordiv(const Variable& x, const Variable& y, const ElementwiseOptions& o) {
  return elementwise("elementwise_floordiv", x, y, o);
}

Variable reduce_sum(const Variable& input, const ReduceOptions& options) { return reduce("reduce_sum", input, options); }
Variable reduce_mean(const Variable& input, const ReduceOptions& options) { return reduce("reduce_mean", input, options); }
Variable reduce_max(const Variable& input, const ReduceOptions& options) { return reduce("reduce_max", input, options); }
Variable reduce_min(const Variable& input, const ReduceOptions& options) { return reduce("reduce_min", input, options); }
Variable reduce_prod(const Variable& input, const ReduceOptions& options) { return reduce("reduce_prod", input, options); }
Variable reduce_all(const Variable& input, const ReduceOptions& options) { return reduce("reduce_all", input, options); }
Variable reduce_any(const Variable& input, const ReduceOptions& options) { return reduce("reduce_any", input, options); }
Variable mean(const Variable& x, const std::string& name) { return unary("mean", x, name); }

Variable sum(const std::vector<Variable>& x) { return add_up(x, {}); }
Variable sums(const std::vector<Variable>& input, const Variable& out) { return add_up(input, out); }

Variable matmul(const Variable& x, const Variable& y, const MatmulOptions& options) {
  return binary("matmul", x, y, options.name,
                {{"transpose_X", options.transpose_x}, {"transpose_Y", options.transpose_y}, {"alpha", options.alpha}});
}
Variable mul(const Variable& x, const Variable& y, int32_t x_num_col_dims, int32_t y_num_col_dims, const std::string& name) {
  return binary("mul", x, y, name, {{"x_num_col_dims", x_num_col_dims}, {"y_num_col_dims", y_num_col_dims}});
}
Variable bmm(const Variable& x, const Variable& y, const std::string& name) { return binary("bmm", x, y, name); }
Variable dot(const Variable& x, const Variable& y, const std::string& name) { return binary("dot", x, y, name); }

Variable scale(const Variable& x, float scale, const ScaleOptions& options) {
  LayerHelper helper("scale", options.name);
  const Variable out =
      helper.append_unary("scale", x, {{"scale", scale}, {"bias", options.bias}, {"bias_after_scale", options.bias_after_scale}});
  return helper.append_activation(out, options.act);
}

Variable scale(const Variable& x, const Variable& scale, const ScaleOptions& options) {
  LayerHelper helper("scale", options.name);
  const Variable out = helper.create_tmp(x.dtype());
  helper.append_op({.type = "scale",
                    .inputs = {{"X", {x.name()}}, {"ScaleTensor", {scale.name()}}},
                    .outputs = {{"Out", {out.name()}}},
                    .attributes = {{"bias", options.bias}, {"bias_after_scale", options.bias_after_scale}}});
  return helper.append_activation(out, options.act);
}

Variable clip(const Variable& x, float min, float max, const std::string& name) {
  return unary("clip", x, name, {{"min", min}, {"max", max}});
}
Variable clip_by_norm(const Variable& x, float max_norm, const std::string& name) {
  return unary("clip_by_norm", x, name, {{"max_norm", max_norm}});
}

Variable l2_normalize(const Variable& x, int32_t axis, float epsilon, const std::string& name) {
  LayerHelper helper("l2_normalize", name);
  const Variable out = helper.create_tmp(x.dtype()), norm = helper.create_tmp(x.dtype());
  helper.append_op({.type = "norm",
                    .inputs = {{"X", {x.name()}}},
                    .outputs = {{"Out", {out.name()}}, {"Norm", {norm.name()}}},
                    .attributes = {{"axis", x.shape().size() == 1 ? 0 : axis}, {"epsilon", epsilon}}});
  return out;
}

Variable cumsum(const Variable& x, std::optional<int32_t> axis, bool exclusive, bool reverse) {
  return unary("cumsum", x, "", {{"axis", axis.value_or(-1)}, {"exclusive", exclusive}, {"reverse", reverse}});
}

Variable increment(const Variable& x, float value, bool in_place) {
  LayerHelper helper("increment", "");
  const Variable out = in_place ? x : helper.create_tmp(x.dtype());
  helper.append_op(
      {.type = "increment", .inputs = {{"X", {x.name()}}}, .outputs = {{"Out", {out.name()}}}, .attributes = {{"step", value}}});
  return out;
}

Variable less_than(const Variable& x, const Variable& y, bool force_cpu, const Variable& cond) {
  return compare("less_than", x, y, force_cpu, cond);
}
Variable less_equal(const Variable& x, const Variable& y, const Variable& cond) {
  return compare("less_equal", x, y, false, cond);
}
Variable greater_than(const Variable& x, const Variable& y, const Variable& cond) {
  return compare("greater_than", x, y, false, cond);
}
Variable greater_equal(const Variable& x, const Variable& y, const Variable& cond) {
  return compare("greater_equal", x, y, false, cond);
}
Variable equal(const Variable& x, const Variable& y, const Variable& cond) { return compare("equal", x, y, false, cond); }
Variable not_equal(const Variable& x, const Variable& y, const Variable& cond) { return compare("not_equal", x, y, false, cond); }

Variable logical_and(const Variable& x, const Variable& y, const Variable& out, const std::string& name) {
  return logical("logical_and", x, y, out, name);
}
Variable logical_or(const Variable& x, const Variable& y, const Variable& out, const std::string& name) {
  return logical("logical_or", x, y, out, name);
}
Variable logical_xor(const Variable& x, const Variable& y, const Variable& out, const std::string& name) {
  return logical("logical_xor", x, y, out, name);
}

Variable logical_not(const Variable& x, const Variable& out, const std::string& name) {
  LayerHelper helper("logical_not", name);
  const Variable made = out ? out : helper.create_tmp(kBool);
  helper.append_op({.type = "logical_not", .inputs = {{"X", {x.name()}}}, .outputs = {{"Out", {made.name()}}}});
  return made;
}

Variable isfinite(const Variable& x) { return unary("isfinite", x, ""); }
Variable has_nan(const Variable& x) { return unary("isnan", x, ""); }
Variable has_inf(const Variable& x) { return unary("isinf", x, ""); }

}  // namespace argosy::layers
