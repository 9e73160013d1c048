// One operator for each update rule of optim/, made from the rule's own description.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <array>
#include <functional>
#include <mutex>

#include "argosy/base/mutex.h"
#include "argosy/engine/ops/tensor_rule.h"
#include "argosy/engine/program/device.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/program/row_adder.h"
#include "argosy/engine/program/row_merge.h"
#include "argosy/optim/rule.h"

namespace argosy::engine {
namespace {

// A tensor of one number that the CPU needs in each step: read again only where somebody else has written to it, since reading
// waits for the device.
class KnownNumber {
 public:
  float read(const at::Tensor& tensor) {
    if (!tensor_.is_same(tensor) || version_ != tensor._version()) note(tensor, tensor.item<float>());
    return number_;
  }
  void write(const at::Tensor& tensor, float number) {
    tensor.fill_(number);
    note(tensor, number);
  }

 private:
  void note(const at::Tensor& tensor, float number) {
    tensor_ = tensor;
    version_ = tensor._version();
    number_ = number;
  }

  at::Tensor tensor_;
  int64_t version_ = 0;
  float number_ = 0;
};

// What a thread keeps of an optimizer operator between steps.
struct Updater {
  std::unique_ptr<optim::Rule> rule;
  RowMerger merger;
  // On other devices than the CPU:
  RowAdder adder;
  KnownNumber rate;
  std::vector<KnownNumber> scalars;
};

// Scalar states (powers of beta) are read and advanced by every trainer thread; a lock per parameter keeps them exact.
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

at::Tensor state_of_rule(const OpContext& op, std::string_view slot, int64_t expected) {
  const at::Tensor& state = op.tensor(slot);
  if (state.scalar_type() != at::kFloat || !state.is_contiguous() || state.numel() != expected) {
    op.fail("state '{}' ({}) has {} values of {}, expected {} of float32", op.input_name(slot), slot, state.numel(),
            c10::toString(state.scalar_type()), expected);
  }
  return state;
}

struct States {
  std::vector<at::Tensor> elements, scalars;

  std::vector<float*> element_data() const {
    std::vector<float*> data;
    for (const at::Tensor& state : elements) data.push_back(state.data_ptr<float>());
    return data;
  }
};

States states_of(const OpContext& op, const optim::Rule& rule, int64_t elements) {
  States states;
  for (const optim::StateSlot& slot : rule.states()) {
    if (slot.shape == optim::StateSlot::element)
      states.elements.push_back(state_of_rule(op, slot.op_slot, elements));
    else
      states.scalars.push_back(state_of_rule(op, slot.op_slot, 1));
  }
  return states;
}

optim::Step begin_step(const OpContext& op, Updater& updater, const States& states, const void* parameter) {
  const optim::Rule& rule = *updater.rule;
  const bool here = in_memory(op.tensor("Param"));
  float rate = 0;
  if (rule.uses_learning_rate())
    rate = here ? op.tensor("LearningRate").item<float>() : updater.rate.read(op.tensor("LearningRate"));
  std::vector<float> scalars(states.scalars.size());
  updater.scalars.resize(scalars.size());
  std::lock_guard lock(scalar_lock(parameter));
  for (size_t i = 0; i < scalars.size(); ++i)
    scalars[i] = here ? *states.scalars[i].data_ptr<float>() : updater.scalars[i].read(states.scalars[i]);
  const optim::Step step = rule.begin_step(rate, scalars);
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (here)
      *states.scalars[i].data_ptr<float>() = scalars[i];
    else
      updater.scalars[i].write(states.scalars[i], scalars[i]);
  }
  return step;
}

// Only the rows of the batch move, for every rule: those that it did not touch, and their states, stay as they are.
void update_rows(Updater& updater, const optim::Step& step, const LookupGradient& gradient, float* param, const States& states) {
  updater.merger.merge(gradient);
  const std::vector<float*> elements = states.element_data();
  updater.rule->apply_rows(step, {.param = param,
                                  .element_states = elements.data(),
                                  .width = static_cast<size_t>(gradient.width),
                                  .stride = static_cast<size_t>(gradient.width),
                                  .index = updater.merger.index(),
                                  .grad = updater.merger.gradients()});
}

using Move = std::function<void(const TensorUpdate&)>;  // one step of the rule on tensors

// Where the step is captured all numbers stay on the device: a replay sees no others.
Move move_on_device(const OpContext& op, Updater& updater, const States& states, const at::Tensor& param) {
  const optim::Rule& rule = *updater.rule;
  if (op.captures()) {
    const at::Tensor rate = rule.uses_learning_rate() ? op.tensor("LearningRate") : at::Tensor();
    return [&rule, &states, rate](const TensorUpdate& update) { step_by_tensors(rule, rate, states.scalars, update); };
  }
  return [&rule, step = begin_step(op, updater, states, param.const_data_ptr())](const TensorUpdate& update) {
    move_tensor_lists(rule, step, update);
  };
}

// The same by torch's functions. A row that occurs more than once is computed as often, with the same result each time.
void update_rows_on_device(const OpContext& op, Updater& updater, const Move& move, const LookupGradient& gradient,
                           const at::Tensor& param, const States& states) {
  if (!updater.rule->info().elementwise)
    op.fail("rule '{}' has no kernel for gradients of rows on {}; use a dense gradient (is_sparse=False)", op.desc().type,
            op.device().str());
  const RowSums rows = updater.adder.add_up(gradient);
  if (!rows.ids.defined()) return op.not_captured("updates a table that nothing looks up");
  TensorUpdate update{.param = {param.index_select(0, rows.ids)}, .grad = {rows.totals()}};
  for (const at::Tensor& state : states.elements) update.states.push_back({state.view(param.sizes()).index_select(0, rows.ids)});
  move(update);
  const auto write = [&](const at::Tensor& all, const at::Tensor& moved) {
    all.index_copy_(0, rows.ids, rows.any.defined() ? at::where(rows.any, moved, all.index_select(0, rows.ids)) : moved);
  };
  write(param, update.param[0]);
  for (size_t k = 0; k < states.elements.size(); ++k) write(states.elements[k].view(param.sizes()), update.states[k][0]);
}

void update_dense(const Updater& updater, const optim::Step& step, const at::Tensor& gradient, const at::Tensor& param,
                  const States& states) {
  const at::Tensor dense = gradient.to(at::kFloat).contiguous();
  const std::vector<float*> elements = states.element_data();
  updater.rule->apply(step, param.data_ptr<float>(), dense.const_data_ptr<float>(), elements.data(),
                      static_cast<size_t>(param.numel()));
}

void update_dense_on_device(const Move& move, const at::Tensor& gradient, const at::Tensor& param, const States& states) {
  TensorUpdate update{.param = {param}, .grad = {gradient.reshape(param.sizes())}};
  for (const at::Tensor& state : states.elements) update.states.push_back({state.view(param.sizes())});
  move(update);
}

void check_gradient(const OpContext& op, const at::Tensor& gradient, const at::Tensor& param) {
  if (gradient.numel() == param.numel()) return;
  op.fail("gradient '{}' has {} values, parameter '{}' has {}", op.input_name("Grad"), gradient.numel(), op.input_name("Param"),
          param.numel());
}

void update(const OpContext& op) {
  Updater& updater = op.state<Updater>([&] { return make_updater(op); });
  const at::Tensor param = op.tensor("Param").detach();
  if (param.scalar_type() != at::kFloat || !param.is_contiguous()) {
    op.fail("parameter '{}' is {}; optimizers update float32 parameters", op.input_name("Param"),
            c10::toString(param.scalar_type()));
  }
  at::NoGradGuard no_grad;
  const States states = states_of(op, *updater.rule, param.numel());
  const Value& grad = op.input("Grad");
  if (grad.rows == nullptr) check_gradient(op, grad.tensor, param);
  if (in_memory(param)) {
    const optim::Step step = begin_step(op, updater, states, param.const_data_ptr());
    if (grad.rows == nullptr) return update_dense(updater, step, grad.tensor, param, states);
    return update_rows(updater, step, *grad.rows, param.data_ptr<float>(), states);
  }
  const Move move = move_on_device(op, updater, states, param);
  if (grad.rows == nullptr) return update_dense_on_device(move, grad.tensor, param, states);
  update_rows_on_device(op, updater, move, *grad.rows, param, states);
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
