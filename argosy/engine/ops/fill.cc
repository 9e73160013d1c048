// Operators that make values from nothing: constants and random numbers. Startup programs are made of them.
#include <ATen/ATen.h>

#include "argosy/base/text.h"
#include "argosy/engine/ops/arguments.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

using graph::DType;
using graph::ShapeContext;

constexpr NumberSlots kFillShape{.attribute = "shape", .tensor = "ShapeTensor", .list = "ShapeTensorList"};

Status shape_from_attributes(ShapeContext& context) {
  context.set_output("Out", integers_at_build(context, kFillShape), context.dtype_attribute("dtype", DType::float32));
  return {};
}

std::vector<int64_t> shape_of(const OpContext& op) {
  std::vector<int64_t> shape = integers(op, kFillShape);
  for (int64_t size : shape) {
    if (size < 0) op.fail("shape {} has a negative size", graph::shape_to_string(shape));
  }
  return shape;
}

at::TensorOptions options_of(const OpContext& op) { return op.options(scalar_type(op.dtype_attr("dtype"))); }

// Random numbers are drawn on the CPU, so that a seed gives the same first values on every device.
at::TensorOptions drawn_options(const OpContext& op) { return at::TensorOptions(scalar_type(op.dtype_attr("dtype"))); }

at::Scalar constant_of(const OpContext& op) {
  if (op.has_input("ValueTensor")) return op.tensor("ValueTensor").item();
  const auto& text = op.attr<std::string>("str_value");
  if (text.empty()) return static_cast<double>(op.attr<float>("value"));
  if (const auto whole = parse_integer(text)) return *whole;
  const auto value = parse_number(text);
  if (!value) op.fail("attribute 'str_value' is '{}', expected a number", text);
  return *value;
}

// The shape with the batch dimension of `Input`: its rows or, where `sequences` is true and it has them, its sequences.
std::vector<int64_t> batch_size_like(const OpContext& op, bool sequences) {
  std::vector<int64_t> shape = integer_list(op.desc(), "shape");
  const auto in = static_cast<size_t>(op.attr<int32_t>("input_dim_idx"));
  const auto out = static_cast<size_t>(op.attr<int32_t>("output_dim_idx"));
  const at::Tensor& input = op.tensor("Input");
  if (out >= shape.size() || in >= static_cast<size_t>(input.dim()))
    op.fail("input_dim_idx {} or output_dim_idx {} is outside the shape", in, out);
  const bool count = sequences && in == 0 && op.input("Input").lod != nullptr;
  shape[out] = count ? static_cast<int64_t>(op.offsets("Input").size()) - 1 : input.size(static_cast<int64_t>(in));
  return shape;
}

Status infer_batch_size_like(ShapeContext& context) {
  std::vector<int64_t> shape = integer_list(context.op(), "shape");
  const auto in = static_cast<size_t>(context.attribute<int32_t>("input_dim_idx"));
  const auto out = static_cast<size_t>(context.attribute<int32_t>("output_dim_idx"));
  const auto& input = context.input("Input").shape;
  if (out >= shape.size() || in >= input.size()) {
    return Status::invalid_argument("input_dim_idx {} or output_dim_idx {} is outside {} and {}", in, out,
                                    graph::shape_to_string(input), graph::shape_to_string(shape));
  }
  shape[out] = input[in];
  context.set_output("Out", std::move(shape), context.dtype_attribute("dtype", DType::float32));
  return {};
}

at::Tensor uniform(const OpContext& op, at::IntArrayRef shape) {
  const double low = op.attr<float>("min"), high = op.attr<float>("max");
  if (low > high) op.fail("min {} is above max {}", low, high);
  return at::empty(shape, drawn_options(op)).uniform_(low, high, op.generator(op.attr<int32_t>("seed"))).to(op.device());
}

// Normal, drawn again where it falls outside two deviations: by the inverse of the normal distribution function on a
// uniform draw between its values at -2 and 2.
// Block by block: the draws are float64, and a table may fill half of the memory.
at::Tensor truncated_normal(const OpContext& op, at::IntArrayRef shape) {
  constexpr int64_t kBlock = 1 << 20;
  const double low = 0.5 * std::erfc(2.0 / std::sqrt(2.0));
  const at::Generator generator = op.generator(op.attr<int32_t>("seed"));
  const at::Tensor out = at::empty(shape, options_of(op));
  const at::Tensor flat = out.view({-1});
  for (int64_t begin = 0; begin < flat.numel(); begin += kBlock) {
    const int64_t count = std::min(kBlock, flat.numel() - begin);
    at::Tensor draw = at::empty({count}, at::kDouble).uniform_(low, 1.0 - low, generator);
    draw.mul_(2.0).sub_(1.0).erfinv_().mul_(std::sqrt(2.0)).mul_(op.attr<float>("std")).add_(op.attr<float>("mean"));
    flat.narrow(0, begin, count).copy_(draw);
  }
  return out;
}

ARGOSY_OP("fill_constant",
          [](const OpContext& op) { op.set_output("Out", at::full(shape_of(op), constant_of(op), options_of(op))); })
    .doc("A tensor of one value.")
    .optional_input("ValueTensor", "the value, where the program computes it")
    .optional_input("ShapeTensor", "the shape, where the program computes it")
    .optional_input_list("ShapeTensorList", "the same, one variable a dimension")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int64_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("value", 0.0f, "the value")
    .attr("str_value", std::string(), "the value as text, where a float would lose digits")
    .attr("force_cpu", false, "no effect: a program has one device")
    .infer_shape(shape_from_attributes)
    .no_gradient();

ARGOSY_OP("fill_constant_batch_size_like",
          [](const OpContext& op) { op.set_output("Out", at::full(batch_size_like(op, true), constant_of(op), options_of(op))); })
    .doc("A tensor of one value whose batch dimension is that of Input.")
    .input("Input", "gives the batch size")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int32_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("value", 0.0f, "the value")
    .attr("str_value", std::string(), "the value as text")
    .attr("input_dim_idx", 0, "the dimension of Input that is taken")
    .attr("output_dim_idx", 0, "where it goes")
    .attr("force_cpu", false, "no effect: a program has one device")
    .infer_shape(infer_batch_size_like)
    .no_gradient();

ARGOSY_OP("uniform_random", [](const OpContext& op) { op.set_output("Out", uniform(op, shape_of(op))); })
    .doc("Uniform random numbers in [min, max).")
    .optional_input("ShapeTensor", "the shape, where the program computes it")
    .optional_input_list("ShapeTensorList", "the same, one variable a dimension")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int64_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("min", -1.0f, "lowest value")
    .attr("max", 1.0f, "highest value")
    .attr("seed", 0, "0: the program's seed, or the process's generator")
    .infer_shape(shape_from_attributes)
    .no_gradient();

ARGOSY_OP("uniform_random_batch_size_like",
          [](const OpContext& op) { op.set_output("Out", uniform(op, batch_size_like(op, false))); })
    .doc("Uniform random numbers; the batch dimension is that of Input.")
    .input("Input", "gives the batch size")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int32_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("min", -1.0f, "lowest value")
    .attr("max", 1.0f, "highest value")
    .attr("seed", 0, "0: the program's seed, or the process's generator")
    .attr("input_dim_idx", 0, "the dimension of Input that is taken")
    .attr("output_dim_idx", 0, "where it goes")
    .infer_shape(infer_batch_size_like)
    .no_gradient();

ARGOSY_OP("gaussian_random",
          [](const OpContext& op) {
            const double mean = op.attr<float>("mean"), deviation = op.attr<float>("std");
            at::Tensor out = at::empty(shape_of(op), drawn_options(op));
            op.set_output("Out", out.normal_(mean, deviation, op.generator(op.attr<int32_t>("seed"))).to(op.device()));
          })
    .doc("Normal random numbers.")
    .optional_input("ShapeTensor", "the shape, where the program computes it")
    .optional_input_list("ShapeTensorList", "the same, one variable a dimension")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int64_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("mean", 0.0f, "mean")
    .attr("std", 1.0f, "standard deviation")
    .attr("seed", 0, "0: the program's seed, or the process's generator")
    .infer_shape(shape_from_attributes)
    .no_gradient();

ARGOSY_OP("truncated_gaussian_random", [](const OpContext& op) { op.set_output("Out", truncated_normal(op, shape_of(op))); })
    .doc("Normal random numbers within two deviations of the mean.")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int32_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("mean", 0.0f, "mean")
    .attr("std", 1.0f, "standard deviation before the cut")
    .attr("seed", 0, "0: the program's seed, or the process's generator")
    .infer_shape(shape_from_attributes)
    .no_gradient();

// The values are in the list of the element type.
at::Tensor given_values(const OpContext& op, DType dtype) {
  switch (dtype) {
    case DType::boolean: return at::tensor(op.attr<std::vector<int32_t>>("bool_values"));
    case DType::int32: return at::tensor(op.attr<std::vector<int32_t>>("int32_values"));
    case DType::int64: return at::tensor(op.attr<std::vector<int64_t>>("int64_values"));
    case DType::float64:
      if (const auto& values = op.attr<std::vector<double>>("fp64_values"); !values.empty()) return at::tensor(values);
      return at::tensor(op.attr<std::vector<float>>("fp32_values"));
    default: return at::tensor(op.attr<std::vector<float>>("fp32_values"));
  }
}

ARGOSY_OP("assign_value",
          [](const OpContext& op) {
            const DType dtype = op.dtype_attr("dtype");
            op.set_output("Out", given_values(op, dtype).to(options_of(op)).reshape(shape_of(op)));
          })
    .doc("A tensor of given values.")
    .output("Out", "the tensor")
    .attr("shape", std::vector<int32_t>{}, "its shape")
    .attr("dtype", static_cast<int32_t>(DType::float32), "its element type")
    .attr("fp32_values", std::vector<float>{}, "the values of a float tensor")
    .attr("fp64_values", std::vector<double>{}, "of a float64 tensor")
    .attr("bool_values", std::vector<int32_t>{}, "of a bool tensor")
    .attr("int32_values", std::vector<int32_t>{}, "of an int32 tensor")
    .attr("int64_values", std::vector<int64_t>{}, "of an int64 tensor")
    .infer_shape(shape_from_attributes)
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
