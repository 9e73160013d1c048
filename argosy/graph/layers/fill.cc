#include "argosy/graph/layers/fill.h"

#include <fmt/format.h>

#include <algorithm>

#include "argosy/base/error.h"
#include "argosy/graph/build.h"
#include "argosy/graph/function_call.h"

namespace argosy::layers {

using graph::LayerHelper;
using graph::OpDesc;

namespace {

constexpr NumbersSlots kShape{.attribute = "shape", .tensor = "ShapeTensor", .list = "ShapeTensorList", .own_layers = true};

int32_t number_of(DType dtype) { return static_cast<int32_t>(dtype); }

// The value as Paddle writes it beside the float: whole for whole types, else with a point, an exponent or a name.
std::string value_text(DType dtype, double value) {
  const bool whole = dtype == kInt8 || dtype == kInt16 || dtype == kInt32 || dtype == kInt64 || dtype == kUInt8;
  if (whole) return fmt::format("{}", static_cast<int64_t>(value));
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

// Adds an operator that only has an output, and returns that.
Variable finish(LayerHelper& helper, OpDesc op, const Variable& out) {
  op.outputs["Out"] = {out.name()};
  helper.append_op(std::move(op));
  return out;
}

Variable finish_constant(LayerHelper& helper, OpDesc op, const Numbers& shape, DType dtype, const FillOptions& options) {
  if (shape.all) Variable(shape.all).set_stop_gradient(true);
  put_numbers(helper, op, shape, kShape);
  op.attributes["dtype"] = number_of(dtype);
  op.attributes["force_cpu"] = options.force_cpu;
  Variable out = options.out ? options.out : helper.create_tmp(dtype);
  finish(helper, std::move(op), out);
  out.set_stop_gradient(true);
  return out;
}

OpDesc batch_size_op(const char* type, const Variable& input, std::vector<int64_t> shape, DType dtype,
                     const BatchSizeOptions& batch) {
  return {.type = type,
          .inputs = {{"Input", {input.name()}}},
          .attributes = {{"shape", std::move(shape)},
                         {"dtype", number_of(dtype)},
                         {"input_dim_idx", batch.input_dim_idx},
                         {"output_dim_idx", batch.output_dim_idx}}};
}

template <typename T>
Variable assign_values(const std::vector<T>& values, std::vector<int64_t> shape, DType dtype, const char* attribute,
                       const Variable& output) {
  LayerHelper helper("assign", "");
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  if (count != static_cast<int64_t>(values.size())) {
    throw Error(Status::invalid_argument("assign: {} values do not fill shape {}", values.size(), graph::shape_to_string(shape)));
  }
  OpDesc op{.type = "assign_value",
            .attributes = {{"shape", std::move(shape)}, {"dtype", number_of(dtype)}, {attribute, values}}};
  return finish(helper, std::move(op), output ? output : helper.create_tmp(dtype));
}

Variable as_variable(const Real& number, DType dtype) {
  if (!number.variable) return fill_constant({1}, dtype, number.value);
  return number.variable.dtype() == dtype ? number.variable : graph::call("cast", {number.variable, dtype})[0];
}

}  // namespace

Variable data(const std::string& name, std::vector<int64_t> shape, DType dtype, const DataOptions& options) {
  const bool open = std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size < 0; });
  if (options.append_batch_size && !open) shape.insert(shape.begin(), -1);
  const auto program = graph::default_main_program();
  graph::VarDesc desc;
  desc.name = name;
  desc.shape = std::move(shape);
  desc.dtype = dtype;
  desc.lod_level = options.lod_level;
  desc.stop_gradient = options.stop_gradient;
  desc.is_data = true;
  return Variable(program, program->global_block(), program->global_block().put_var(std::move(desc)));
}

Variable create_parameter(std::vector<int64_t> shape, DType dtype, const CreateParameterOptions& options) {
  LayerHelper helper("create_parameter", "");
  const ParamAttr attr = options.attr ? *options.attr : ParamAttr(options.name);
  return helper.create_parameter(attr, std::move(shape), dtype, options.is_bias, options.default_initializer);
}

Variable create_global_var(std::vector<int64_t> shape, double value, DType dtype, const GlobalVarOptions& options) {
  graph::VarDesc desc;
  desc.name = options.name.empty() ? graph::unique_name("_generated_var") : options.name;
  desc.shape = std::move(shape);
  desc.dtype = dtype;
  desc.persistable = true;
  graph::Block& startup = graph::default_startup_program()->global_block();
  OpDesc init = graph::init_op(graph::constant_initializer(static_cast<float>(value)), startup.put_var(desc));
  init.attributes["force_cpu"] = options.force_cpu;
  value_or_throw(startup.append_op(std::move(init)));
  desc.persistable = options.persistable;
  desc.stop_gradient = true;
  const auto main = graph::default_main_program();
  return Variable(main, main->global_block(), main->global_block().put_var(std::move(desc)));
}

Variable create_tensor(DType dtype, const std::string& name, bool persistable) {
  LayerHelper helper("create_tensor", name);
  graph::VarDesc desc;
  desc.name = helper.name();
  desc.dtype = dtype;
  desc.persistable = persistable;
  const auto main = graph::default_main_program();
  return Variable(main, main->current_block(), main->current_block().put_var(std::move(desc)));
}

Variable autoincreased_step_counter(const std::string& counter_name, int64_t begin, int64_t step) {
  const auto main = graph::default_main_program();
  graph::Block& block = main->global_block();
  if (graph::VarDesc* known = block.find_var(counter_name)) return Variable(main, block, *known);
  const Variable counter = create_global_var({1}, static_cast<double>(begin - 1), kInt64,
                                             {.persistable = true, .force_cpu = true, .name = counter_name});
  value_or_throw(block.insert_op(0, {.type = "increment",
                                     .inputs = {{"X", {counter_name}}},
                                     .outputs = {{"Out", {counter_name}}},
                                     .attributes = {{"step", static_cast<float>(step)}}}));
  return counter;
}

Variable fill_constant(const Numbers& shape, DType dtype, double value, const FillOptions& options) {
  LayerHelper helper("fill_constant", "");
  OpDesc op{.type = "fill_constant",
            .attributes = {{"value", static_cast<float>(value)}, {"str_value", value_text(dtype, value)}}};
  return finish_constant(helper, std::move(op), shape, dtype, options);
}

Variable fill_constant(const Numbers& shape, DType dtype, const Variable& value, const FillOptions& options) {
  LayerHelper helper("fill_constant", "");
  return finish_constant(helper, {.type = "fill_constant", .inputs = {{"ValueTensor", {value.name()}}}}, shape, dtype, options);
}

Variable zeros(const Numbers& shape, DType dtype, bool force_cpu) {
  return fill_constant(shape, dtype, 0.0, {.force_cpu = force_cpu});
}
Variable ones(const Numbers& shape, DType dtype, bool force_cpu) {
  return fill_constant(shape, dtype, 1.0, {.force_cpu = force_cpu});
}

Variable zeros_like(const Variable& x, const Variable& out) {
  LayerHelper helper("zeros_like", "");
  Variable made = out ? out : helper.create_tmp(x.dtype());
  finish(helper, {.type = "fill_zeros_like", .inputs = {{"X", {x.name()}}}}, made);
  made.set_stop_gradient(true);
  return made;
}

Variable ones_like(const Variable& x, const Variable& out) {
  LayerHelper helper("ones_like", "");
  return finish(helper, {.type = "fill_any_like", .inputs = {{"X", {x.name()}}}, .attributes = {{"value", 1.0f}}},
                out ? out : helper.create_tmp(x.dtype()));
}

Variable fill_constant_batch_size_like(const Variable& input, std::vector<int64_t> shape, DType dtype, double value,
                                       const BatchSizeOptions& options) {
  LayerHelper helper("fill_constant_batch_size_like", "");
  OpDesc op = batch_size_op("fill_constant_batch_size_like", input, std::move(shape), dtype, options);
  op.attributes["value"] = static_cast<float>(value);
  op.attributes["str_value"] = value_text(dtype, value);
  op.attributes["force_cpu"] = options.force_cpu;
  return finish(helper, std::move(op), helper.create_tmp(dtype, /*stop_gradient=*/true));
}

Variable uniform_random(const Numbers& shape, const UniformOptions& options) {
  LayerHelper helper("uniform_random", "");
  OpDesc op{
      .type = "uniform_random",
      .attributes = {{"dtype", number_of(options.dtype)}, {"min", options.min}, {"max", options.max}, {"seed", options.seed}}};
  put_numbers(helper, op, shape, {.attribute = "shape", .tensor = "ShapeTensor", .list = "ShapeTensorList", .dtype = kInt64});
  return finish(helper, std::move(op), helper.create_tmp(options.dtype));
}

Variable uniform_random_batch_size_like(const Variable& input, std::vector<int64_t> shape, const UniformOptions& options,
                                        const BatchSizeOptions& batch) {
  LayerHelper helper("uniform_random_batch_size_like", "");
  OpDesc op = batch_size_op("uniform_random_batch_size_like", input, std::move(shape), options.dtype, batch);
  op.attributes["min"] = options.min;
  op.attributes["max"] = options.max;
  op.attributes["seed"] = options.seed;
  return finish(helper, std::move(op), helper.create_tmp(options.dtype));
}

Variable gaussian_random(const Numbers& shape, const GaussianOptions& options) {
  LayerHelper helper("gaussian_random", "");
  OpDesc op{
      .type = "gaussian_random",
      .attributes = {{"dtype", number_of(options.dtype)}, {"mean", options.mean}, {"std", options.std}, {"seed", options.seed}}};
  put_numbers(helper, op, shape, kShape);
  return finish(helper, std::move(op), helper.create_tmp(options.dtype));
}

Variable range(const Real& start, const Real& end, const Real& step, DType dtype) {
  LayerHelper helper("range", "");
  OpDesc op{.type = "range"};
  op.inputs["Start"] = {as_variable(start, dtype).name()};
  op.inputs["End"] = {as_variable(end, dtype).name()};
  op.inputs["Step"] = {as_variable(step, dtype).name()};
  return finish(helper, std::move(op), helper.create_tmp(dtype, /*stop_gradient=*/true));
}

Variable linspace(const Real& start, const Real& stop, const Number& num, DType dtype) {
  LayerHelper helper("linspace", "");
  OpDesc op{.type = "linspace"};
  op.inputs["Start"] = {as_variable(start, dtype).name()};
  op.inputs["Stop"] = {as_variable(stop, dtype).name()};
  op.inputs["Num"] = {(num.variable ? num.variable : fill_constant({1}, kInt32, static_cast<double>(num.value))).name()};
  return finish(helper, std::move(op), helper.create_tmp(dtype));
}

Variable assign(const Variable& input, const Variable& output) {
  LayerHelper helper("assign", "");
  return finish(helper, {.type = "assign", .inputs = {{"X", {input.name()}}}},
                output ? output : helper.create_tmp(input.dtype()));
}

Variable assign(const std::vector<float>& values, std::vector<int64_t> shape, const Variable& output) {
  return assign_values(values, std::move(shape), kFloat32, "fp32_values", output);
}
Variable assign(const std::vector<int32_t>& values, std::vector<int64_t> shape, const Variable& output) {
  return assign_values(values, std::move(shape), kInt32, "int32_values", output);
}
Variable assign(const std::vector<int64_t>& values, std::vector<int64_t> shape, const Variable& output) {
  return assign_values(values, std::move(shape), kInt64, "int64_values", output);
}
Variable assign(const std::vector<bool>& values, std::vector<int64_t> shape, const Variable& output) {
  return assign_values(std::vector<int32_t>(values.begin(), values.end()), std::move(shape), kBool, "bool_values", output);
}

void put_numbers(graph::LayerHelper& helper, graph::OpDesc& op, const Numbers& numbers, const NumbersSlots& slots) {
  op.attributes[slots.attribute] = numbers.values();
  if (numbers.all) {
    if (slots.tensor == nullptr) {
      throw Error(
          Status::invalid_argument("operator '{}': '{}' takes numbers or a list of variables, but variable '{}' was given",
                                   op.type, slots.attribute, numbers.all.name()));
    }
    op.inputs[slots.tensor] = {numbers.all.name()};
    return;
  }
  if (numbers.fixed()) return;
  std::vector<std::string>& list = op.inputs[slots.list];
  for (const Number& number : numbers.items) {
    if (number.variable) {
      list.push_back(number.variable.name());
    } else if (slots.own_layers) {
      list.push_back(fill_constant({1}, slots.dtype, static_cast<double>(number.value), {.force_cpu = true}).name());
    } else {
      const Variable constant = helper.create_tmp(slots.dtype);
      list.push_back(
          fill_constant({1}, slots.dtype, static_cast<double>(number.value), {.force_cpu = true, .out = constant}).name());
    }
  }
}

}  // namespace argosy::layers
