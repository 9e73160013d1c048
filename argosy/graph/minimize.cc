#include "argosy/graph/minimize.h"

#include <algorithm>
#include <map>
#include <optional>

#include "argosy/base/error.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layer_helper.h"

namespace argosy::graph {
namespace {

OpDesc& append(const Variable& like, OpDesc op) {
  return *value_or_throw(like.program()->global_block().append_op(std::move(op)));
}

Variable new_gradient(const Variable& grad, const char* suffix) {
  VarDesc desc = grad.desc();
  desc.name += suffix;
  Block& block = grad.program()->global_block();
  return Variable(grad.program(), block, block.put_var(std::move(desc)));
}

const char* clip_kind(const optim::GradientClip& clip) {
  switch (clip.kind) {
    case optim::GradientClip::by_value: return "by_value";
    case optim::GradientClip::by_norm: return "by_norm";
    case optim::GradientClip::by_global_norm: break;
  }
  return "by_global_norm";
}

// Gradients that are clipped together: those of one global norm, or one alone.
struct ClipGroup {
  optim::GradientClip clip;
  std::vector<size_t> members;
};

std::vector<ClipGroup> clip_groups(const optim::Optimizer& optimizer, const std::vector<ParamGrad>& pairs) {
  std::vector<ClipGroup> groups;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const ParameterInfo& info = *pairs[i].param.desc().parameter;
    const auto& clip = info.gradient_clip ? info.gradient_clip : optimizer.grad_clip;
    if (!clip || !info.need_clip || !clip->applies_to(pairs[i].param.name())) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const ClipGroup& group) {
      return clip->kind == optim::GradientClip::by_global_norm && group.clip.kind == clip->kind &&
             group.clip.group_name == clip->group_name;
    });
    if (same == groups.end())
      groups.push_back({*clip, {i}});
    else
      same->members.push_back(i);
  }
  return groups;
}

void append_clips(const optim::Optimizer& optimizer, std::vector<ParamGrad>& pairs) {
  for (const ClipGroup& group : clip_groups(optimizer, pairs)) {
    OpDesc op{.type = "clip_gradients"};
    op.attributes = {{"kind", std::string(clip_kind(group.clip))},
                     {"min", group.clip.min},
                     {"max", group.clip.max},
                     {"clip_norm", group.clip.clip_norm}};
    std::vector<Variable> clipped;
    for (size_t i : group.members) {
      op.inputs["X"].push_back(pairs[i].grad.name());
      pairs[i].grad = new_gradient(pairs[i].grad, "@CLIP");
      op.outputs["Out"].push_back(pairs[i].grad.name());
    }
    append(pairs[0].param, std::move(op));
  }
}

void append_decays(const optim::Optimizer& optimizer, std::vector<ParamGrad>& pairs) {
  for (ParamGrad& pair : pairs) {
    const auto& own = pair.param.desc().parameter->regularizer;
    const auto& decay = own ? own : optimizer.regularization;
    if (!decay || decay->coeff == 0) continue;
    const Variable decayed = new_gradient(pair.grad, "@DECAY");
    append(pair.param, {.type = "regularize_gradient",
                        .inputs = {{"Param", {pair.param.name()}}, {"Grad", {pair.grad.name()}}},
                        .outputs = {{"Out", {decayed.name()}}},
                        .attributes = {{"kind", std::string(decay->kind == optim::Regularization::l1 ? "l1" : "l2")},
                                       {"coeff", decay->coeff}}});
    pair.grad = decayed;
  }
}

// A persistable variable with its first value in the startup program.
Variable make_state(const std::string& name, std::vector<int64_t> shape, float initial) {
  LayerHelper helper("optimizer_state", name);
  return helper.create_state(name, std::move(shape), DType::float32, constant_initializer(initial));
}

// The parameter's own rate: the common one, or a multiple of it.
Variable rate_for(const Variable& param, const Variable& rate) {
  const float factor = param.desc().parameter->learning_rate;
  if (factor == 1.0f) return rate;
  LayerHelper helper("scale", "");
  return helper.append_unary("scale", rate, {{"scale", factor}});
}

void append_update(const optim::Optimizer& optimizer, const optim::Rule& rule, const ParamGrad& pair, const Variable& rate) {
  const RoleGuard role(kRoleOptimize);
  const optim::RuleInfo& info = rule.info();
  OpDesc op{.type = std::string(info.op_type)};
  op.inputs = {{"Param", {pair.param.name()}}, {"Grad", {pair.grad.name()}}};
  if (rule.uses_learning_rate()) op.inputs["LearningRate"] = {rate_for(pair.param, rate).name()};
  op.outputs = {{"ParamOut", {pair.param.name()}}};
  for (const optim::StateSlot& slot : rule.states()) {
    const std::string name = unique_name(fmt::format("{}_{}", pair.param.name(), slot.suffix));
    const bool whole = slot.shape == optim::StateSlot::element;
    const Variable state = make_state(name, whole ? pair.param.shape() : std::vector<int64_t>{1}, slot.initial);
    op.inputs[slot.op_slot] = {state.name()};
    if (!slot.op_output.empty()) op.outputs[slot.op_output] = {state.name()};
  }
  const optim::HyperParameters values = optimizer.hyper_parameters_of(pair.param.name());
  for (const optim::HyperParameter& parameter : info.hyper_parameters) {
    const auto given = values.find(parameter.name);
    if (!parameter.is_attribute || given == values.end()) continue;
    const bool boolean = parameter.kind == optim::HyperParameter::boolean;
    op.attributes[std::string(parameter.name)] = boolean ? Attribute(given->second != 0) : Attribute(given->second);
  }
  if (info.op_type.starts_with("adam") && info.op_type != "adamax") op.attributes["lazy_mode"] = optimizer.lazy_mode;
  op.attributes["op_role_var"] = std::vector<std::string>{pair.param.name(), pair.grad.name()};
  append(pair.param, std::move(op));
}

Variable rate_variable(const optim::Optimizer& optimizer) {
  const RoleGuard role(kRoleLearningRate);
  if (const optim::Schedule* schedule = optimizer.learning_rate.schedule()) return learning_rate_variable(*schedule);
  LayerHelper helper("learning_rate", "");
  return helper.create_state(helper.name(), {1}, DType::float32, constant_initializer(optimizer.learning_rate.value(0)));
}

// The name of a rate that the original keeps, and saves, as a persistable variable; empty for one that is a temporary.
std::string_view kept_name(const optim::Schedule& schedule) {
  if (schedule.kind == "piecewise") return "learning_rate";
  return schedule.kind.starts_with("linear_warmup") ? "learning_rate_warmup" : "";
}

}  // namespace

Variable step_counter() {
  const auto main = default_main_program();
  Block& block = main->global_block();
  if (VarDesc* known = block.find_var(kStepCounter)) return Variable(main, block, *known);
  LayerHelper helper("global_step_counter", "");
  const Variable counter = helper.create_state(kStepCounter, {1}, DType::int64, constant_initializer(-1));
  const RoleGuard role(kRoleLearningRate);
  value_or_throw(block.insert_op(0, {.type = "increment",
                                     .inputs = {{"X", {counter.name()}}},
                                     .outputs = {{"Out", {counter.name()}}},
                                     .attributes = {{"step", 1.0f}}}));
  return counter;
}

Variable learning_rate_variable(const optim::Schedule& schedule) {
  throw_if_error(schedule.check());
  const Variable counter = step_counter();
  const RoleGuard role(kRoleLearningRate);
  LayerHelper helper("learning_rate", "");
  const std::string_view kept = kept_name(schedule);
  const Variable rate = kept.empty() ? helper.create_tmp(DType::float32, true)
                                     : helper.create_state(std::string(kept), {1}, DType::float32, constant_initializer(0));
  helper.append_op({.type = "learning_rate_schedule",
                    .inputs = {{"Step", {counter.name()}}},
                    .outputs = {{"Out", {rate.name()}}},
                    .attributes = {{"kind", schedule.kind}, {"floats", schedule.floats}, {"ints", schedule.ints}}});
  return rate;
}

MinimizeResult apply_gradients(const optim::Optimizer& optimizer, std::vector<ParamGrad> params_grads,
                               const MinimizeOptions& options) {
  throw_if_error(optimizer.check());
  std::erase_if(params_grads, [](const ParamGrad& pair) { return !pair.grad; });
  if (params_grads.empty()) throw Error(Status::invalid_argument("there is no gradient to apply"));
  for (const ParamGrad& pair : params_grads) {
    if (!pair.param.desc().is_parameter())
      throw Error(Status::invalid_argument("'{}' is not a parameter; it has no update", pair.param.name()));
  }
  const auto startup = options.startup_program != nullptr ? options.startup_program : default_startup_program();
  const ProgramGuard programs(params_grads[0].param.program(), startup);
  MinimizeResult result;
  result.learning_rate = options.learning_rate ? options.learning_rate : rate_variable(optimizer);
  {
    const RoleGuard role(kRoleBackward);
    append_clips(optimizer, params_grads);
    append_decays(optimizer, params_grads);
  }
  const auto rule = value_or_throw(optim::make_rule(optimizer.rule, optimizer.hyper_parameters));
  for (const ParamGrad& pair : params_grads) append_update(optimizer, *rule, pair, result.learning_rate);
  result.params_grads = std::move(params_grads);
  return result;
}

MinimizeResult minimize(const optim::Optimizer& optimizer, const Variable& loss, const MinimizeOptions& options) {
  return apply_gradients(optimizer, append_backward(loss, options.parameter_list, options.no_grad_set, options.checkpoints),
                         options);
}

}  // namespace argosy::graph
