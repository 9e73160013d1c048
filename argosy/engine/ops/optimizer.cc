// One operator for each update rule of optim/, made from the rule's own description.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

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
  std::vector<std::pair<int64_t, size_t>> order;  // of the rows of a gradient, by row: the row, and which of merger's it is
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
  const MutexLock lock(scalar_lock(parameter));
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

void update_dense(const Updater& updater, const optim::Step& step, const at::Tensor& gradient, const at::Tensor& param,
                  const States& states) {
  const at::Tensor dense = gradient.to(at::kFloat).contiguous();
  const std::vector<float*> elements = states.element_data();
  updater.rule->apply(step, param.data_ptr<float>(), dense.const_data_ptr<float>(), elements.data(),
                      static_cast<size_t>(param.numel()));
}

// A whole table by the rows of a batch: the gradient of all others is 0, which moves them where their states do. One walk through
// the memory, and none where nothing moves.
class TableSweep {
 public:
  TableSweep(const optim::Rule& rule, const optim::Step& step, float* param, std::vector<float*> states)
      : rule_(rule), step_(step), param_(param), states_(std::move(states)), moved_(states_.size()), rests_(rests_at_zero()) {}

  void run(std::span<const std::pair<int64_t, size_t>> rows, const float* gradients, size_t width, size_t height) {
    size_t next = 0;
    for (const auto& [row, number] : rows) {
      const auto begin = static_cast<size_t>(row) * width;
      move_rest(next, begin);
      move(begin, gradients + number * width, width);
      next = begin + width;
    }
    move_rest(next, height * width);
  }

 private:
  static constexpr size_t kBlock = 256;  // elements

  void move(size_t at, const float* gradient, size_t count) {
    for (size_t k = 0; k < states_.size(); ++k) moved_[k] = states_[k] + at;
    rule_.apply(step_, param_ + at, gradient, moved_.data(), count);
  }

  void move_rest(size_t begin, size_t end) {
    static constexpr std::array<float, kBlock> kZeros{};
    for (size_t at = begin; at < end; at += kBlock) {
      const size_t count = std::min(kBlock, end - at);
      if (!rests_ || !has_zero_states(at, count)) move(at, kZeros.data(), count);
    }
  }

  bool has_zero_states(size_t at, size_t count) const {
    return std::all_of(states_.begin(), states_.end(), [&](const float* state) {
      uint32_t any = 0;
      for (size_t i = 0; i < count; ++i) any |= std::bit_cast<uint32_t>(state[at + i]);
      return any == 0;
    });
  }

  // Whether an element without gradient, whose states are 0, stays as it is: the formulas of SGD and Adam then subtract rate * 0.
  bool rests_at_zero() const {
    if (rule_.info().op_type != "sgd" && !rule_.as_adam(step_)) return false;
    float one = 1;
    const float zero = 0;
    std::array<float, optim::kMaxElementStates> states{};
    std::array<float*, optim::kMaxElementStates> at{&states[0], &states[1], &states[2]};
    rule_.apply(step_, &one, &zero, at.data(), 1);
    return one == 1 && states == decltype(states){};
  }

  const optim::Rule& rule_;
  const optim::Step& step_;
  float* const param_;
  const std::vector<float*> states_;
  std::vector<float*> moved_;  // states_, from where the next call begins
  const bool rests_;
};

void update_table(Updater& updater, const optim::Step& step, const LookupGradient& gradient, const at::Tensor& table,
                  const States& states) {
  if (!updater.rule->info().elementwise) return update_dense(updater, step, gradient.to_dense(), table, states);
  updater.merger.merge(gradient);
  const std::span<const int64_t> index = updater.merger.index();
  updater.order.clear();
  for (size_t i = 0; i < index.size(); ++i) updater.order.emplace_back(index[i], i);
  std::sort(updater.order.begin(), updater.order.end());
  TableSweep(*updater.rule, step, table.data_ptr<float>(), states.element_data())
      .run(updater.order, updater.merger.gradients(), static_cast<size_t>(gradient.width), static_cast<size_t>(gradient.height));
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
  const SummedRows rows = updater.adder.add_up(gradient);
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
  if (op.has_input("SkipUpdate") && op.on_cpu("SkipUpdate").item<bool>()) return;
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
    if (grad.rows->dense) return update_table(updater, step, *grad.rows, param, states);
    return update_rows(updater, step, *grad.rows, param.data_ptr<float>(), states);
  }
  const Move move = move_on_device(op, updater, states, param);
  if (grad.rows == nullptr) return update_dense_on_device(move, grad.tensor, param, states);
  update_rows_on_device(op, updater, move, *grad.rows, param, states);
}

// Those that have the input in PaddlePaddle; others take the gradient, which is 0 then.
bool can_be_skipped(const optim::RuleInfo& info) {
  return info.op_type == "adam" || info.op_type == "adamw" || info.op_type == "lamb";
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
    if (can_be_skipped(info)) op.optional_input("SkipUpdate", "one truth value: parameter and states stay as they are");
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
