// Operators that make values from nothing: constants and random numbers. Startup programs are made of them.
#include <ATen/ATen.h>

#include "argosy/base/text.h"
#include "argosy/engine/op.h"

namespace argosy::engine {
namespace {

using graph::DType;
using graph::ShapeContext;

Status shape_from_attributes(ShapeContext& context) {
  context.set_output("Out", context.attribute<std::vector<int64_t>>("shape"), context.dtype_attribute("dtype", DType::float32));
  return {};
}

at::TensorOptions options_of(const OpContext& op) { return at::TensorOptions(scalar_type(op.dtype_attr("dtype"))); }

double constant_of(const OpContext& op) {
  const auto& text = op.attr<std::string>("str_value");
  if (text.empty()) return op.attr<float>("value");
  const auto value = parse_number(text);
  if (!value) op.fail("attribute 'str_value' is '{}', expected a number", text);
  return *value;
}

// The shape of `Input` with the batch dimension taken over.
std::vector<int64_t> batch_size_like(const OpContext& op) {
  std::vector<int64_t> shape = op.attr<std::vector<int64_t>>("shape");
  const auto in = static_cast<size_t>(op.attr<int32_t>("input_dim_idx"));
  const auto out = static_cast<size_t>(op.attr<int32_t>("output_dim_idx"));
  const at::Tensor& input = op.tensor("Input");
  if (out >= shape.size() || in >= static_cast<size_t>(input.dim())) op.fail("input_dim_idx {} or output_dim_idx {} is outside the shape", in, out);
  shape[out] = op.input("Input").lod != nullptr && in == 0 ? static_cast<int64_t>(op.offsets("Input").size()) - 1 : input.size(static_cast<int64_t>(in));
  return shape;
}

Status infer_batch_size_like(ShapeContext& context) {
  std::vector<int64_t> shape = context.attribute<std::vector<int64_t>>("shape");
  const auto in = static_cast<size_t>(context.attribute<int32_t>("input_dim_idx"));
  const auto out = static_cast<size_t>(context.attribute<int32_t>("output_dim_idx"));
  const auto& input = context.input("Input").shape;
  if (out >= shape.size() || in >= input.size()) {
    return Status::invalid_argument("input_dim_idx {} or output_dim_idx {} is outside {} and {}", in, out, graph::shape_to_string(input),
                                    graph::shape_to_string(shape));
  }
  shape[out] = input[in];
  context.set_output("Out", std::move(shape), context.dtype_attribute("dtype", DType::float32));
  return {};
}

at::Tensor uniform(const OpContext& op, at::IntArrayRef shape) {
  const double low = op.attr<float>("min"), high = op.attr<float>("max");
  if (low > high) op.fail("min {} is above max {}", low, high);
  return at::empty(shape, options_of(op)).uniform_(low, high, op.generator(op.attr<int32_t>("seed")));
}

// Normal, drawn again where it falls outside two deviations: by the inverse of the normal distribution function on a
// uniform draw between its values at -2 and 2.
at::Tensor truncated_normal(const OpContext& op, at::IntArrayRef shape) {
  const double low = 0.5 * std::erfc(2.0 / std::sqrt(2.0));
  const at::Tensor draw = at::empty(shape, at::kDouble).uniform_(low, 1.0 - low, op.generator(op.attr<int32_t>("seed")));
  const at::Tensor standard = at::erfinv(draw * 2.0 - 1.0) * std::sqrt(2.0);
  return (standard * op.attr<float>("std") + op.attr<float>("mean")).to(options_of(op));
}

ARGOSY_OP("fill_constant", [](const OpContext& op) {
  op.set_output("Out", at::full(op.attr<std::vector<int64_t>>("shape"), constant_of(op), options_of(op)));
})
    .doc("A tensor of one value.")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int64_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("value", 0.0f, "the value")
    .attr("str_value", std::string(), "the value as text, where a float would lose digits")
    .attr("force_cpu", false, "no effect: there is one device")
    .infer_shape(shape_from_attributes)
    .no_gradient();

ARGOSY_OP("fill_constant_batch_size_like", [](const OpContext& op) {
  op.set_output("Out", at::full(batch_size_like(op), constant_of(op), options_of(op)));
})
    .doc("A tensor of one value whose batch dimension is that of Input.")
    .input("Input", "gives the batch size")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int64_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("value", 0.0f, "the value")
    .attr("str_value", std::string(), "the value as text")
    .attr("input_dim_idx", 0, "the dimension of Input that is taken")
    .attr("output_dim_idx", 0, "where it goes")
    .attr("force_cpu", false, "no effect: there is one device")
    .infer_shape(infer_batch_size_like)
    .no_gradient();

ARGOSY_OP("uniform_random", [](const OpContext& op) { op.set_output("Out", uniform(op, op.attr<std::vector<int64_t>>("shape"))); })
    .doc("Uniform random numbers in [min, max).")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int64_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("min", -1.0f, "lowest value")
    .attr("max", 1.0f, "highest value")
    .attr("seed", 0, "0: the program's seed, or the process's generator")
    .infer_shape(shape_from_attributes)
    .no_gradient();

ARGOSY_OP("uniform_random_batch_size_like", [](const OpContext& op) { op.set_output("Out", uniform(op, batch_size_like(op))); })
    .doc("Uniform random numbers; the batch dimension is that of Input.")
    .input("Input", "gives the batch size")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int64_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("min", -1.0f, "lowest value")
    .attr("max", 1.0f, "highest value")
    .attr("seed", 0, "0: the program's seed, or the process's generator")
    .attr("input_dim_idx", 0, "the dimension of Input that is taken")
    .attr("output_dim_idx", 0, "where it goes")
    .infer_shape(infer_batch_size_like)
    .no_gradient();

ARGOSY_OP("gaussian_random", [](const OpContext& op) {
  const double mean = op.attr<float>("mean"), deviation = op.attr<float>("std");
  at::Tensor out = at::empty(op.attr<std::vector<int64_t>>("shape"), options_of(op));
  op.set_output("Out", out.normal_(mean, deviation, op.generator(op.attr<int32_t>("seed"))));
})
    .doc("Normal random numbers.")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int64_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("mean", 0.0f, "mean")
    .attr("std", 1.0f, "standard deviation")
    .attr("seed", 0, "0: the program's seed, or the process's generator")
    .infer_shape(shape_from_attributes)
    .no_gradient();

ARGOSY_OP("truncated_gaussian_random", [](const OpContext& op) { op.set_output("Out", truncated_normal(op, op.attr<std::vector<int64_t>>("shape"))); })
    .doc("Normal random numbers within two deviations of the mean.")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int64_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("mean", 0.0f, "mean")
    .attr("std", 1.0f, "standard deviation before the cut")
    .attr("seed", 0, "0: the program's seed, or the process's generator")
    .infer_shape(shape_from_attributes)
    .no_gradient();

ARGOSY_OP("assign_value", [](const OpContext& op) {
  const auto& shape = op.attr<std::vector<int64_t>>("shape");
  const DType dtype = op.dtype_attr("dtype");
  const at::Tensor flat = dtype == DType::int64   ? at::tensor(op.attr<std::vector<int64_t>>("int64_values"))
                          : dtype == DType::int32 ? at::tensor(op.attr<std::vector<int32_t>>("int32_values"))
                                                  : at::tensor(op.attr<std::vector<float>>("fp32_values"));
  op.set_output("Out", flat.to(scalar_type(dtype)).reshape(shape));
})
    .doc("A tensor of given values.")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int64_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("fp32_values", std::vector<float>{}, "the values of a float tensor")
    .attr("int32_values", std::vector<int32_t>{}, "of an int32 tensor")
    .attr("int64_values", std::vector<int64_t>{}, "of an int64 tensor")
    .infer_shape(shape_from_attributes)
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
