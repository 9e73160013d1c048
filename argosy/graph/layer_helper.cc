#include "argosy/graph/layer_helper.h"

#include <algorithm>
#include <atomic>

#include "argosy/base/error.h"
#include "argosy/base/log.h"
#include "argosy/graph/build.h"

namespace argosy::graph {
namespace {

bool is_written(const Block& block, const std::string& variable) {
  return std::any_of(block.ops().begin(), block.ops().end(), [&](const auto& op) {
    const auto outputs = op->output_names();
    return std::find(outputs.begin(), outputs.end(), variable) != outputs.end();
  });
}

// Once a startup program: a second main program that shares the variable must not draw its first values again. The newest
// comes first, as in the original.
void add_first_values(Program& startup, const VarDesc& variable, const Initializer& init) {
  Block& block = startup.global_block();
  if (is_written(block, variable.name)) return;
  block.put_var(variable);
  value_or_throw(block.insert_op(0, init_op(init, variable, block)));
}

void warn_of_model_average(const std::string& parameter) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  log_warning("do_model_average of parameter '{}' is ignored, here and on other parameters: there is no ModelAverage", parameter);
}

}  // namespace

LayerHelper::LayerHelper(std::string type, const std::string& name)
    : type_(std::move(type)),
      name_(name.empty() ? unique_name(type_) : name),
      main_(default_main_program()),
      startup_(default_startup_program()) {}

Variable LayerHelper::create_parameter(const ParamAttr& attr, std::vector<int64_t> shape, DType dtype, bool is_bias,
                                       std::optional<Initializer> otherwise) {
  const std::string parameter = attr.name.empty() ? unique_name(name_ + (is_bias ? ".b" : ".w")) : attr.name;
  if (attr.do_model_average) warn_of_model_average(parameter);
  Block& block = main_->global_block();
  if (VarDesc* known = block.find_var(parameter)) {
    if (known->shape != shape || known->dtype != dtype) {
      throw Error(Status::invalid_argument("parameter '{}' is shared by {} with shape {} {}, but it was made with {} {}",
                                           parameter, type_, shape_to_string(shape), dtype_name(dtype),
                                           shape_to_string(known->shape), dtype_name(known->dtype)));
    }
    return Variable(main_, block, *known);
  }
  VarDesc desc;
  desc.name = parameter;
  desc.dtype = dtype;
  desc.shape = std::move(shape);
  desc.persistable = true;
  desc.stop_gradient = !attr.trainable;
  desc.parameter = ParameterInfo{.learning_rate = attr.learning_rate,
                                 .trainable = attr.trainable,
                                 .regularizer = attr.regularizer,
                                 .gradient_clip = attr.gradient_clip,
                                 .need_clip = attr.need_clip};
  const Initializer init = attr.initializer ? *attr.initializer
                           : otherwise      ? *otherwise
                           : is_bias        ? constant_initializer(0)
                                            : xavier_initializer();
  add_first_values(*startup_, desc, init);
  return Variable(main_, block, block.put_var(std::move(desc)));
}

Variable LayerHelper::create_tmp(DType dtype, bool stop_gradient) {
  VarDesc desc;
  desc.name = unique_name(name_ + ".tmp");
  desc.dtype = dtype;
  desc.stop_gradient = stop_gradient;
  Block& block = main_->current_block();
  return Variable(main_, block, block.put_var(std::move(desc)));
}

Variable LayerHelper::create_state(const std::string& variable_name, std::vector<int64_t> shape, DType dtype,
                                   const Initializer& init) {
  VarDesc desc;
  desc.name = variable_name;
  desc.dtype = dtype;
  desc.shape = std::move(shape);
  desc.persistable = true;
  desc.stop_gradient = true;
  add_first_values(*startup_, desc, init);
  Block& block = main_->global_block();
  return Variable(main_, block, block.put_var(std::move(desc)));
}

OpDesc& LayerHelper::append_op(OpDesc op) { return *value_or_throw(main_->current_block().append_op(std::move(op))); }

Variable LayerHelper::append_unary(const std::string& op_type, const Variable& x, AttributeMap attributes) {
  const Variable out = create_tmp(x.dtype());
  append_op(
      {.type = op_type, .inputs = {{"X", {x.name()}}}, .outputs = {{"Out", {out.name()}}}, .attributes = std::move(attributes)});
  return out;
}

Variable LayerHelper::append_bias(const Variable& x, const ParamAttr& bias, int32_t axis) {
  if (bias.absent) return x;
  if (axis < 0 || static_cast<size_t>(axis) >= x.shape().size()) {
    throw Error(Status::invalid_argument("{}: a bias on axis {} of '{}', whose shape is {}", type_, axis, x.name(),
                                         shape_to_string(x.shape())));
  }
  std::vector<int64_t> shape = {x.shape()[static_cast<size_t>(axis)]};
  const Variable b = create_parameter(bias, std::move(shape), x.dtype(), true);
  const Variable out = create_tmp(x.dtype());
  append_op({.type = "elementwise_add",
             .inputs = {{"X", {x.name()}}, {"Y", {b.name()}}},
             .outputs = {{"Out", {out.name()}}},
             .attributes = {{"axis", axis}}});
  return out;
}

Variable LayerHelper::append_activation(const Variable& x, const std::string& act) {
  return act.empty() ? x : append_unary(act, x);
}

}  // namespace argosy::graph
