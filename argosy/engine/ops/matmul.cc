// The matrix product of fc and Linear layers, alone and fused with bias and relu.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <string_view>

#include "argosy/engine/program/op.h"
#include "argosy/engine/program/tensor_pool.h"

// oneDNN's product into memory that is given: result = beta * result + alpha * a @ b. libtorch exports it without a header; weak,
// so that a libtorch without it is linked all the same, and is null then.
namespace at::native {
[[gnu::weak]] void mkldnn_matmul(const at::Tensor& a, const at::Tensor& b, const at::Tensor& result, float beta, float alpha);
}

namespace argosy::engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor as_matrix(const at::Tensor& x, int64_t rows_end) {
  if (x.dim() == 2 && rows_end == 1) return x;
  return x.reshape(
      {c10::size_to_dim_(static_cast<int>(rows_end), x.sizes()), c10::size_from_dim_(static_cast<int>(rows_end), x.sizes())});
}

std::vector<int64_t> product_shape(const at::Tensor& x, int64_t x_dims, const at::Tensor& y, int64_t y_dims) {
  std::vector<int64_t> shape(x.sizes().begin(), x.sizes().begin() + x_dims);
  shape.insert(shape.end(), y.sizes().begin() + y_dims, y.sizes().end());
  return shape;
}

// oneDNN's product x @ w.t() + bias, with relu: a tenth faster than libtorch's own float32 product (MKL) on AMD's processors.
// Null where libtorch was built without it.
using LinearOp = at::Tensor(const at::Tensor& x, const at::Tensor& w, const std::optional<at::Tensor>& bias,
                            std::string_view after, c10::List<std::optional<at::Scalar>> numbers,
                            std::optional<std::string_view> algorithm);
const c10::TypedOperatorHandle<LinearOp>* linear_op() {
  static const auto op = [] {
    const auto found = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
    return found ? std::optional(found->typed<LinearOp>()) : std::nullopt;
  }();
  return op && at::globalContext().userEnabledMkldnn() ? &*op : nullptr;
}

// Whether oneDNN's product pays: its call costs some microseconds.
bool is_large(const at::Tensor& x, const at::Tensor& y) {
  return x.scalar_type() == at::kFloat && x.is_cpu() && x.size(0) * y.numel() >= 1'000'000;
}
bool wants_linear(const at::Tensor& x, const at::Tensor& w) {
  return is_large(x, w) && x.is_contiguous() && linear_op() != nullptr;
}
bool wants_onednn(const at::Tensor& x, const at::Tensor& y) {
  return is_large(x, y) && at::native::mkldnn_matmul != nullptr && at::globalContext().userEnabledMkldnn();
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias, bool relu) {
  return linear_op()->call(x, w, bias.defined() ? std::optional(bias) : std::nullopt, relu ? "relu" : "none",
                           c10::List<std::optional<at::Scalar>>(), "");
}

at::Tensor matrix_product(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor out = pooled_tensor({x.size(0), y.size(1)}, x.options());
  if (!wants_onednn(x, y)) return at::mm_out(out, x, y);
  at::native::mkldnn_matmul(x, y, out, /*beta=*/0, /*alpha=*/1);
  return out;
}

at::Tensor converted(const at::Tensor& x, at::ScalarType type) {
  if (x.scalar_type() == type) return x;
  return pooled_tensor(x.sizes(), x.options().dtype(type)).copy_(x);
}

// x @ w + bias, and relu of it, as `type`, which differs from that of x and w where the product is a narrow one.
// REQUIRES: autograd does not record.
at::Tensor fc_product(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias, bool relu, at::ScalarType type) {
  if (x.scalar_type() == type && wants_linear(x, w)) return linear(x, w.t(), bias, relu);
  at::Tensor out;
  if (bias.defined() && x.scalar_type() == type) {
    out = pooled_tensor({x.size(0), w.size(1)}, x.options());
    at::addmm_out(out, bias, x, w);
  } else {
    out = converted(matrix_product(x, w), type);
    if (bias.defined()) out.add_(bias);
  }
  return relu ? out.relu_() : out;
}

// relu(x @ w + bias) with a backward that knows what it needs: the output's sign is the mask, the bias gradient is a column
// sum, and no intermediate is kept. With `narrow` the three products are in bfloat16, accumulated in float32.
struct FusedFc : torch::autograd::Function<FusedFc> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& w,
                            const std::optional<at::Tensor>& given_bias, bool relu, bool narrow) {
    const at::Tensor bias = given_bias.value_or(at::Tensor());
    const at::Tensor narrow_x = narrow ? converted(x, at::kBFloat16) : x, narrow_w = narrow ? converted(w, at::kBFloat16) : w;
    const at::Tensor out = fc_product(narrow_x, narrow_w, bias, relu, x.scalar_type());
    context->save_for_backward({narrow_x, narrow_w, relu ? out : at::Tensor()});
    context->saved_data["bias"] = bias.defined();
    context->saved_data["narrow"] = narrow;
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &w = saved[1], &out = saved[2];
    at::Tensor grad = std::move(grads[0]);
    if (out.defined()) {
      at::Tensor masked = pooled_tensor(out.sizes(), out.options());
      at::threshold_backward_out(masked, grad, out, 0);
      grad = std::move(masked);
    }
    at::Tensor grad_x, grad_w, grad_bias;
    if (context->saved_data["bias"].toBool() && context->needs_input_grad(2)) grad_bias = grad.sum(0);
    const at::ScalarType type = grad.scalar_type();
    if (context->saved_data["narrow"].toBool()) grad = converted(grad, at::kBFloat16);
    if (context->needs_input_grad(0)) grad_x = converted(matrix_product(grad, w.t()), type);
    if (context->needs_input_grad(1)) grad_w = converted(matrix_product(x.t(), grad), type);
    return {grad_x, grad_w, grad_bias, at::Tensor(), at::Tensor()};
  }
};

void check_inner(const OpContext& op, const at::Tensor& x, const at::Tensor& y) {
  if (x.size(1) != y.size(0))
    op.fail("the inner sizes differ: {} x {} times {} x {}", x.size(0), x.size(1), y.size(0), y.size(1));
}

at::Tensor fc(const OpContext& op, const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias, bool relu) {
  const bool narrow = op.bfloat16_matmul() && x.scalar_type() == at::kFloat;
  if (op.training()) return FusedFc::apply(x, w, std::optional<at::Tensor>(bias), relu, narrow);
  if (narrow) return fc_product(converted(x, at::kBFloat16), converted(w, at::kBFloat16), bias, relu, x.scalar_type());
  return fc_product(x, w, bias, relu, x.scalar_type());
}

constexpr int64_t kAllButLast = -1;  // x_num_col_dims of what was a matmul

void run_fc(const OpContext& op, const at::Tensor& bias, bool relu) {
  const Value& x = op.input("X");
  const at::Tensor& y = op.tensor("Y");
  const int64_t asked = op.attr<int32_t>("x_num_col_dims"), y_dims = op.attr<int32_t>("y_num_col_dims");
  const int64_t x_dims = asked == kAllButLast ? x.tensor.dim() - 1 : asked;
  const at::Tensor left = as_matrix(x.tensor, x_dims), right = as_matrix(y, y_dims);
  check_inner(op, left, right);
  at::Tensor out = fc(op, left, right, bias, relu);
  if (x.tensor.dim() != 2 || y.dim() != 2 || x_dims != 1) out = out.reshape(product_shape(x.tensor, x_dims, y, y_dims));
  op.set_output("Out", std::move(out), x.lod);
}

Status infer_matmul(graph::ShapeContext& context) {
  const auto &x = context.input("X"), &y = context.input("Y");
  const auto x_dims = static_cast<size_t>(context.attribute<int32_t>("x_num_col_dims"));
  const auto y_dims = static_cast<size_t>(context.attribute<int32_t>("y_num_col_dims"));
  if (x_dims < 1 || x_dims >= x.shape.size() || y_dims < 1 || y_dims >= y.shape.size()) {
    return Status::invalid_argument("x_num_col_dims {} and y_num_col_dims {} must cut {} {} and {} {} into two parts", x_dims,
                                    y_dims, x.name, graph::shape_to_string(x.shape), y.name, graph::shape_to_string(y.shape));
  }
  int64_t inner_x = 1, inner_y = 1;
  bool known = true;
  for (size_t i = x_dims; i < x.shape.size(); ++i) inner_x *= x.shape[i], known = known && x.shape[i] >= 0;
  for (size_t i = 0; i < y_dims; ++i) inner_y *= y.shape[i];
  if (known && inner_x != inner_y) {
    return Status::invalid_argument("'{}' {} has {} values per row, but '{}' {} takes {}", x.name,
                                    graph::shape_to_string(x.shape), inner_x, y.name, graph::shape_to_string(y.shape), inner_y);
  }
  std::vector<int64_t> shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(x_dims));
  shape.insert(shape.end(), y.shape.begin() + static_cast<std::ptrdiff_t>(y_dims), y.shape.end());
  context.set_output("Out", std::move(shape), x.dtype, x.lod_level);
  return {};
}

ARGOSY_OP("mul", [](const OpContext& op) { run_fc(op, {}, false); })
    .doc("The matrix product of two tensors that are cut into rows and columns.")
    .input("X", "left")
    .input("Y", "right")
    .output("Out", "the product")
    .attr("x_num_col_dims", 1, "the first so many dimensions of X are its rows")
    .attr("y_num_col_dims", 1, "the first so many dimensions of Y are its rows")
    .infer_shape(infer_matmul)
    .function({.signature = "mul(x, y, x_num_col_dims=1, y_num_col_dims=1, name=None)",
               .example = "x = fluid.data('x', [None, 4])\nw = fluid.data('w', [4, 3])\ny = fluid.layers.mul(x, w)"});

ARGOSY_OP("fused_fc",
          [](const OpContext& op) { run_fc(op, op.has_input("Bias") ? op.tensor("Bias") : at::Tensor(), op.attr<bool>("relu")); })
    .doc("mul or matmul, elementwise_add and relu in one; made by a pass, never by a layer.")
    .input("X", "left")
    .input("Y", "right")
    .optional_input("Bias", "one value a column")
    .output("Out", "the result")
    .attr("x_num_col_dims", 1, "as for mul; -1: all dimensions of X but the last")
    .attr("y_num_col_dims", 1, "as for mul")
    .attr("relu", false, "apply relu")
    .infer_shape(infer_matmul);

}  // namespace
}  // namespace argosy::engine
