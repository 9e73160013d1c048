#include "argosy/graph/layers/operators.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "argosy/base/error.h"
#include "argosy/graph/build.h"

namespace argosy::layers {

using graph::OpDesc;

namespace {

bool is_whole(DType dtype) { return !graph::is_floating(dtype) && dtype != kBool; }
bool is_comparison(const std::string& type) { return !type.starts_with("elementwise_"); }

Variable create(DType dtype, bool stop_gradient = false) {
  const auto program = graph::default_main_program();
  graph::Block& block = program->current_block();
  graph::VarDesc desc;
  desc.name = graph::unique_name("tmp");
  desc.dtype = dtype;
  desc.stop_gradient = stop_gradient;
  return Variable(program, block, block.put_var(std::move(desc)));
}

Variable finish(OpDesc op, const Variable& out) {
  op.outputs["Out"] = {out.name()};
  value_or_throw(out.block().append_op(std::move(op)));
  return out;
}

Variable scaled(const Variable& x, double factor, double bias) {
  return finish({.type = "scale",
                 .inputs = {{"X", {x.name()}}},
                 .attributes = {{"scale", static_cast<float>(factor)}, {"bias", static_cast<float>(bias)}}},
                create(x.dtype()));
}

// The operator as factor and bias on x, where that says the same.
std::optional<Variable> as_scale(const std::string& type, const Variable& x, double y, bool reversed) {
  if (type == "elementwise_add") return scaled(x, 1.0, y);
  if (type == "elementwise_sub") return reversed ? scaled(x, -1.0, y) : scaled(x, 1.0, -y);
  if (type == "elementwise_mul") return scaled(x, y, 0.0);
  if (type == "elementwise_div" && !reversed && !is_whole(x.dtype())) return scaled(x, 1.0 / y, 0.0);
  return std::nullopt;
}

Variable constant(const std::vector<int64_t>& shape, DType dtype, double value) {
  return finish({.type = "fill_constant",
                 .attributes = {{"shape", shape}, {"dtype", static_cast<int32_t>(dtype)}, {"value", static_cast<float>(value)}}},
                create(dtype, /*stop_gradient=*/true));
}

// A constant as large as x, for the left side. Sequences have as many rows as x, not as many as sequences, so theirs is
// made from x itself.
Variable constant_like(const Variable& x, double value) {
  std::vector<int64_t> shape = x.shape();
  const auto open = std::find_if(shape.begin(), shape.end(), [](int64_t size) { return size < 0; });
  if (open == shape.end()) return constant(shape, x.dtype(), value);
  if (x.lod_level() > 0) {
    return finish({.type = "fill_any_like", .inputs = {{"X", {x.name()}}}, .attributes = {{"value", static_cast<float>(value)}}},
                  create(x.dtype(), /*stop_gradient=*/true));
  }
  const auto batch = static_cast<int32_t>(open - shape.begin());
  std::replace_if(open + 1, shape.end(), [](int64_t size) { return size < 0; }, 1);
  return finish({.type = "fill_constant_batch_size_like",
                 .inputs = {{"Input", {x.name()}}},
                 .attributes = {{"shape", shape},
                                {"dtype", static_cast<int32_t>(x.dtype())},
                                {"value", static_cast<float>(value)},
                                {"input_dim_idx", batch},
                                {"output_dim_idx", batch}}},
                create(x.dtype(), /*stop_gradient=*/true));
}

Variable join(const std::string& type, const Variable& x, const Variable& y, DType dtype) {
  const bool batch = !y.shape().empty() && y.shape()[0] == -1 && y.shape().size() <= x.shape().size();
  return finish({.type = type, .inputs = {{"X", {x.name()}}, {"Y", {y.name()}}}, .attributes = {{"axis", batch ? 0 : -1}}},
                create(is_comparison(type) ? kBool : dtype));
}

}  // namespace

Variable astype(const Variable& x, DType dtype) {
  return finish({.type = "cast",
                 .inputs = {{"X", {x.name()}}},
                 .attributes = {{"in_dtype", static_cast<int32_t>(x.dtype())}, {"out_dtype", static_cast<int32_t>(dtype)}}},
                create(dtype));
}

Variable negate(const Variable& x) { return scaled(x, -1.0, 0.0); }

Variable operate(const std::string& type, const Variable& x, const Variable& y) {
  return join(type, x, x.dtype() == y.dtype() ? y : astype(y, x.dtype()), x.dtype());
}

Variable operate(const std::string& type, const Variable& x, double y, bool reversed) {
  if (is_whole(x.dtype()) && y != std::floor(y) && !is_comparison(type)) {
    throw Error(Status::invalid_argument(
        "variable '{}' has whole numbers ({}), which {} cannot be joined with; cast it to a float type first", x.name(),
        graph::dtype_name(x.dtype()), y));
  }
  if (const auto made = as_scale(type, x, y, reversed)) return *made;
  if (reversed) return join(type, constant_like(x, y), x, x.dtype());
  return join(type, x, constant({1}, x.dtype(), y), x.dtype());
}

}  // namespace argosy::layers
