#include "argosy/engine/ops/tensor_rule.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "argosy/engine/ops/one_kernel.h"
#include "argosy/optim/array.h"

namespace argosy::engine {
namespace {

using Tensors = std::vector<at::Tensor>;

// A list of tensors as the arrays of a formula. Torch makes one call of many small tensors where a device has such calls. A
// number is a list of one tensor without dimensions, and goes with every tensor of another list.
class TensorList final : public optim::ArrayValue {
 public:
  explicit TensorList(Tensors tensors, bool is_number = false) : tensors_(std::move(tensors)), is_number_(is_number) {}
  const Tensors& tensors() const { return tensors_; }

  Pointer combine(Binary op, const ArrayValue& right) const override {
    const auto& other = static_cast<const TensorList&>(right);
    if (is_number_ == other.is_number_) return made(combined(op, other.tensors_));
    if (!is_number_) return made(combined_tensor(op, other.tensors_[0]));
    ARGOSY_CHECK(op == Binary::add || op == Binary::multiply, "a number is not the left side of a difference or a quotient");
    return other.combine(op, *this);
  }
  Pointer combine(Binary op, float right) const override { return made(combined_number(op, static_cast<double>(right))); }
  Pointer combine_reversed(float left, Binary op) const override {
    const double number = left;
    switch (op) {
      case Binary::subtract: return made(at::_foreach_add(at::_foreach_neg(tensors_), number));
      case Binary::divide: return made(at::_foreach_mul(at::_foreach_reciprocal(tensors_), number));
      default: return made(combined_number(op, number));
    }
  }
  Pointer map(Unary op) const override { return made(mapped(op)); }
  Pointer power(float exponent) const override { return made(at::_foreach_pow(tensors_, static_cast<double>(exponent))); }
  Pointer mask_above(float limit, const ArrayValue& kept) const override {
    Tensors out;
    for (size_t i = 0; i < tensors_.size(); ++i) out.push_back(at::where(tensors_[i] > limit, of(kept)[i], 0));
    return made(std::move(out));
  }

 private:
  static const Tensors& of(const ArrayValue& value) { return static_cast<const TensorList&>(value).tensors_; }
  Pointer made(Tensors tensors) const { return std::make_shared<TensorList>(std::move(tensors), is_number_); }

  Tensors combined(Binary op, const Tensors& right) const {
    switch (op) {
      case Binary::add: return at::_foreach_add(tensors_, right);
      case Binary::subtract: return at::_foreach_sub(tensors_, right);
      case Binary::multiply: return at::_foreach_mul(tensors_, right);
      case Binary::divide: return at::_foreach_div(tensors_, right);
      case Binary::larger: return at::_foreach_maximum(tensors_, right);
      case Binary::ratio: break;
    }
    Tensors out;
    for (size_t i = 0; i < tensors_.size(); ++i)
      out.push_back(at::where((tensors_[i] > 0).logical_and(right[i] > 0), tensors_[i] / right[i], 1));
    return out;
  }

  Tensors combined_tensor(Binary op, const at::Tensor& right) const {
    switch (op) {
      case Binary::add: return at::_foreach_add(tensors_, right);
      case Binary::subtract: return at::_foreach_add(tensors_, right, -1);
      case Binary::multiply: return at::_foreach_mul(tensors_, right);
      case Binary::divide: return at::_foreach_div(tensors_, right);
      case Binary::larger:
      case Binary::ratio: break;
    }
    ARGOSY_CHECK(false, "a maximum and a ratio are of two lists");
    return {};
  }

  Tensors combined_number(Binary op, double right) const {
    switch (op) {
      case Binary::add: return at::_foreach_add(tensors_, right);
      case Binary::subtract: return at::_foreach_sub(tensors_, right);
      case Binary::multiply: return at::_foreach_mul(tensors_, right);
      case Binary::divide: return at::_foreach_div(tensors_, right);
      case Binary::larger: return at::_foreach_clamp_min(tensors_, right);
      case Binary::ratio: break;
    }
    ARGOSY_CHECK(false, "a ratio is of two lists");
    return {};
  }

  Tensors mapped(Unary op) const {
    switch (op) {
      case Unary::root: return at::_foreach_sqrt(tensors_);
      case Unary::absolute: return at::_foreach_abs(tensors_);
      case Unary::sign: return at::_foreach_sign(tensors_);
      case Unary::norm: return at::_foreach_norm(tensors_);
    }
    return {};
  }

  Tensors tensors_;
  bool is_number_;
};

Status check_like_param(const TensorUpdate& update, const Tensors& list, const char* what) {
  if (list.size() != update.param.size())
    return Status::invalid_argument("{} tensors as {} of {} parameters", list.size(), what, update.param.size());
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].sizes() != update.param[i].sizes()) {
      return Status::invalid_argument("{} {} has {} elements, its parameter {}; expected the same shape", what, i,
                                      list[i].numel(), update.param[i].numel());
    }
  }
  return {};
}

Status check_update(const optim::Rule& rule, const TensorUpdate& update) {
  if (update.states.size() != rule.element_states()) {
    return Status::invalid_argument("update rule '{}' has {} states of the parameter's shape, {} were given", rule.info().op_type,
                                    rule.element_states(), update.states.size());
  }
  RETURN_IF_ERROR(check_like_param(update, update.grad, "gradient"));
  for (const Tensors& list : update.states) RETURN_IF_ERROR(check_like_param(update, list, "state"));
  return {};
}

bool is_span(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.scalar_type() == at::kFloat && tensor.is_contiguous() && !tensor.is_sparse();
}

bool are_spans(const TensorUpdate& update, size_t i) {
  bool all = is_span(update.param[i]);
  for (const Tensors& list : update.states) all = all && is_span(list[i]);
  return all;
}

void move_span(const optim::Rule& rule, const optim::Step& step, const TensorUpdate& update, size_t i) {
  const at::Tensor grad = update.grad[i].to(at::kFloat).contiguous();
  float* states[optim::kMaxElementStates] = {};
  for (size_t k = 0; k < update.states.size(); ++k) states[k] = update.states[k][i].data_ptr<float>();
  rule.apply(step, update.param[i].data_ptr<float>(), grad.const_data_ptr<float>(), states,
             static_cast<size_t>(update.param[i].numel()));
  update.param[i].unsafeGetTensorImpl()->bump_version();  // as torch's own writes do: a graph that has saved it must notice
}

optim::Array as_array(Tensors tensors) { return optim::Array(std::make_shared<TensorList>(std::move(tensors))); }

optim::Array as_number(const at::Tensor& tensor) {
  return optim::Array(std::make_shared<TensorList>(Tensors{tensor.reshape({})}, true));
}

const Tensors& in_array(const optim::Array& array) { return static_cast<const TensorList&>(array.value()).tensors(); }

}  // namespace

namespace {

// Calls `formula` on the arrays of an update, and writes what they have become.
template <typename Formula>
void move_by(const Formula& formula, const TensorUpdate& update) {
  Tensors grads;
  for (size_t i = 0; i < update.grad.size(); ++i) grads.push_back(update.grad[i].to(update.param[i].scalar_type()));
  optim::Array param = as_array(update.param);
  std::vector<optim::Array> states;
  for (const Tensors& list : update.states) states.push_back(as_array(list));
  formula(param, as_array(std::move(grads)), std::span(states));
  at::_foreach_copy_(update.param, in_array(param));
  for (size_t k = 0; k < states.size(); ++k) {
    if (in_array(states[k])[0].unsafeGetTensorImpl() != update.states[k][0].unsafeGetTensorImpl())
      at::_foreach_copy_(update.states[k], in_array(states[k]));
  }
}

}  // namespace

void move_tensor_lists(const optim::Rule& rule, const optim::Step& step, const TensorUpdate& update) {
  if (update.param.empty() || moved_by_one_kernel(rule, step, update)) return;
  move_by_formula(rule, step, update);
}

void move_by_formula(const optim::Rule& rule, const optim::Step& step, const TensorUpdate& update) {
  move_by([&](optim::Array& param, const optim::Array& grad,
              std::span<optim::Array> states) { rule.apply(step, param, grad, states); },
          update);
}

void step_by_tensors(const optim::Rule& rule, const at::Tensor& rate, const Tensors& scalars, const TensorUpdate& update) {
  const at::NoGradGuard no_grad;
  const optim::Array number = as_number(rate.defined() ? rate : at::ones({}, update.param[0].options().dtype(at::kFloat)));
  std::vector<optim::Array> numbers;
  for (const at::Tensor& scalar : scalars) numbers.push_back(as_number(scalar));
  move_by([&](optim::Array& param, const optim::Array& grad,
              std::span<optim::Array> states) { rule.step(number, numbers, param, grad, states); },
          update);
  for (size_t i = 0; i < scalars.size(); ++i) {
    const at::Tensor& moved = in_array(numbers[i])[0];
    if (!moved.is_alias_of(scalars[i])) scalars[i].copy_(moved.reshape(scalars[i].sizes()));
  }
}

Status step_tensors(const optim::Rule& rule, float rate, std::span<float> scalars, const TensorUpdate& update) {
  RETURN_IF_ERROR(check_update(rule, update));
  at::NoGradGuard no_grad;
  const optim::Step step = rule.begin_step(rate, scalars);
  TensorUpdate others{.states = std::vector<Tensors>(update.states.size())};
  for (size_t i = 0; i < update.param.size(); ++i) {
    if (are_spans(update, i)) {
      move_span(rule, step, update, i);
      continue;
    }
    others.param.push_back(update.param[i]);
    others.grad.push_back(update.grad[i]);
    for (size_t k = 0; k < update.states.size(); ++k) others.states[k].push_back(update.states[k][i]);
  }
  move_tensor_lists(rule, step, others);
  return {};
}

Status step_tensor_lists(const optim::Rule& rule, float rate, std::span<float> scalars, const TensorUpdate& update) {
  RETURN_IF_ERROR(check_update(rule, update));
  at::NoGradGuard no_grad;
  move_by_formula(rule, rule.begin_step(rate, scalars), update);
  return {};
}

}  // namespace argosy::engine
