// One operator for each update rule of optim/, made from the rule's own description.
#include <ATen/ATen.h>

#include <array>
#include <mutex>

#include "argosy/base/mutex.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/program/row_merge.h"
#include "argosy/optim/rule.h"

namespace argosy::engine {
namespace {

// What a thread keeps of an optimizer operator between steps.
struct Updater {
  std::unique_ptr<optim::Rule> rule;
  RowMerger merger;
};

// Scalar states (powers of beta) are read and advanced by every trainer thread; a lock a parameter keeps them exact.
Mutex& scalar_lock(const void* parameter) {
  static std::array<Mutex, 64>& locks = *new std::array<Mutex, 64>;
  return locks[reinterpret_cast<uintptr_t>(parameter) / 64 % locks.size()];
}

Updater* make_updater(const OpContext& op) {
  optim::HyperParameters hyper;
  const optim::RuleInfo& info = **optim::find_rule(op.desc().type);
  for (const optim::HyperParameter& parameter : info.hyper_parameters) {
    if (!parameter.is_attribute) continue;
    const std::string name(parameter.name);
    hyper[name] =
        parameter.kind == optim::HyperParameter::boolean ? static_cast<float>(op.attr<bool>(name)) : op.attr<float>(name);
  }
  auto rule = optim::make_rule(op.desc().type, hyper);
  if (!rule.ok()) throw KernelError(rule.status());
  return new Updater{.rule = std::move(*rule)};
}

float* state_data(const OpContext& op, std::string_view slot, int64_t expected) {
  const at::Tensor& state = op.tensor(slot);
  if (state.scalar_type() != at::kFloat || !state.is_contiguous() || state.numel() != expected) {
    op.fail("state '{}' ({}) has {} values of {}, expected {} of float32", op.input_name(slot), slot, state.numel(),
            c10::toString(state.scalar_type()), expected);
  }
  return state.data_ptr<float>();
}

struct States {
  std::vector<float*> elements, scalars;
};

States states_of(const OpContext& op, const optim::Rule& rule, int64_t elements) {
  States states;
  for (const optim::StateSlot& slot : rule.states()) {
    if (slot.shape == optim::StateSlot::element)
      states.elements.push_back(state_data(op, slot.op_slot, elements));
    else
      states.scalars.push_back(state_data(op, slot.op_slot, 1));
  }
  return states;
}

optim::Step begin_step(const OpContext& op, const optim::Rule& rule, const States& states, const void* parameter) {
  const float rate = rule.uses_learning_rate() ? op.tensor("LearningRate").item<float>() : 0.0f;
  std::vector<float> scalars(states.scalars.size());
  std::lock_guard lock(scalar_lock(parameter));
  for (size_t i = 0; i < scalars.size(); ++i) scalars[i] = *states.scalars[i];
  const optim::Step step = rule.begin_step(rate, scalars);
  for (size_t i = 0; i < scalars.size(); ++i) *states.scalars[i] = scalars[i];
  return step;
}

// Only the rows of the batch move, for every rule: those that it did not touch, and their states, stay as they are.
void update_rows(Updater& updater, const optim::Step& step, const LookupGradient& gradient, float* param, const States& states) {
  updater.merger.merge(gradient);
  updater.rule->apply_rows(step, {.param = param,
                                  .element_states = states.elements.data(),
                                  .width = static_cast<size_t>(gradient.width),
                                  .stride = static_cast<size_t>(gradient.width),
                                  .index = updater.merger.index(),
                                  .grad = updater.merger.gradients()});
}

void update(const OpContext& op) {
  Updater& updater = op.state<Updater>([&] { return make_updater(op); });
  const at::Tensor& param = op.tensor("Param");
  if (param.scalar_type() != at::kFloat || !param.is_contiguous()) {
    op.fail("parameter '{}' is {}; optimizers update float32 parameters", op.input_name("Param"),
            c10::toString(param.scalar_type()));
  }
  float* data = static_cast<float*>(param.data_ptr());
  const States states = states_of(op, *updater.rule, param.numel());
  const Value& grad = op.input("Grad");
  const optim::Step step = begin_step(op, *updater.rule, states, data);
  if (grad.rows != nullptr) return update_rows(updater, step, *grad.rows, data, states);
  if (grad.tensor.numel() != param.numel()) {
    op.fail("gradient '{}' has {} values, parameter '{}' has {}", op.input_name("Grad"), grad.tensor.numel(),
            op.input_name("Param"), param.numel());
  }
  const at::Tensor dense = grad.tensor.to(at::kFloat).contiguous();
  updater.rule->apply(step, data, dense.const_data_ptr<float>(), states.elements.data(), static_cast<size_t>(param.numel()));
}

std::vector<OpRegistration> register_rules() {
  std::vector<OpRegistration> registered;
  for (const optim::RuleInfo& info : optim::all_rules()) {
    OpRegistration op(std::string(info.op_type), &update);
    op.doc("One step of this rule, in place.").input("Param", "the parameter").input("Grad", "its gradient, dense or of rows");
    if (info.uses_learning_rate)
      op.input("LearningRate", "one number");
    else
      op.optional_input("LearningRate", "used where the rule is told to");
    op.output("ParamOut", "the same variable as Param");
    for (const optim::StateSlot& slot : info.states) {
      op.input(std::string(slot.op_slot), "state");
      if (!slot.op_output.empty()) op.output(std::string(slot.op_output), "the same variable as the state");
    }
    for (const optim::HyperParameter& parameter : info.hyper_parameters) {
      if (!parameter.is_attribute) continue;
      const graph::Attribute value = parameter.kind == optim::HyperParameter::boolean
                                         ? graph::Attribute(parameter.default_value != 0)
                                         : graph::Attribute(parameter.default_value);
      op.attr(std::string(parameter.name), value, "of the rule");
    }
    op.attr("lazy_mode", true, "rows that the batch did not touch stay as they are; always so for a sparse gradient");
    op.no_gradient();
    registered.push_back(op);
  }
  return registered;
}

const std::vector<OpRegistration> kRules = register_rules();

}  // namespace
}  // namespace argosy::engine
