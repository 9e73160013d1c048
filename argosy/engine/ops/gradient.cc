// What happens to gradients between the backward operator and the update: clipping and weight decay, for dense gradients and
// for gradients of rows; and the learning rate of a schedule.
#include <ATen/ATen.h>

#include "argosy/engine/program/device.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/program/row_adder.h"
#include "argosy/engine/program/row_merge.h"
#include "argosy/optim/clip.h"
#include "argosy/optim/regularize.h"
#include "argosy/optim/schedule.h"

namespace argosy::engine {
namespace {

std::span<float> span_of(at::Tensor& tensor) { return {tensor.mutable_data_ptr<float>(), static_cast<size_t>(tensor.numel())}; }
std::span<const float> span_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

// Equal rows added up: what can only be computed on sums (norms, limits) starts here.
Value merged(const LookupGradient& rows) {
  if (!rows.pieces.empty() && !in_memory(rows.pieces[0].gradient)) {
    RowAdder adder;
    return Value{.rows = std::make_shared<LookupGradient>(adder.add_up(rows).as_gradient(rows))};
  }
  RowMerger merger;
  merger.merge(rows);
  const auto count = static_cast<int64_t>(merger.index().size());
  at::Tensor ids = at::empty({count}, at::kLong), sums = at::empty({count, rows.width});
  std::copy(merger.index().begin(), merger.index().end(), ids.mutable_data_ptr<int64_t>());
  std::copy_n(merger.gradients(), count * rows.width, sums.mutable_data_ptr<float>());
  auto result = std::make_shared<LookupGradient>();
  result->height = rows.height;
  result->width = rows.width;
  result->pieces.push_back({.ids = ids, .gradient = sums});
  return Value{.rows = std::move(result)};
}

// A gradient of its own memory, with equal rows merged, that may be changed.
Value writable(const Value& gradient) {
  if (gradient.rows != nullptr) return merged(*gradient.rows);
  return Value{.tensor = gradient.tensor.to(at::kFloat).clone(at::MemoryFormat::Contiguous)};
}

at::Tensor& numbers_of(Value& gradient) { return gradient.rows != nullptr ? gradient.rows->pieces[0].gradient : gradient.tensor; }

// The same by torch's functions: norms stay on the device.
void clip_on_device(const OpContext& op, std::vector<Value> gradients) {
  const std::string& kind = op.attr<std::string>("kind");
  const double limit = op.attr<float>("clip_norm");
  std::vector<at::Tensor> numbers;
  for (Value& gradient : gradients) numbers.push_back(numbers_of(gradient));
  if (kind == "by_value") {
    for (at::Tensor& one : numbers) one.clamp_(op.attr<float>("min"), op.attr<float>("max"));
  } else {
    std::vector<at::Tensor> norms = at::_foreach_norm(numbers, 2, at::kDouble);
    const at::Tensor all = at::stack(norms).square().sum().sqrt();
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i].mul_(limit / (kind == "by_norm" ? norms[i] : all).clamp_min(limit).to(numbers[i].scalar_type()));
  }
  for (size_t i = 0; i < gradients.size(); ++i) op.set_value("Out", std::move(gradients[i]), i);
}

void clip(const OpContext& op) {
  const std::string& kind = op.attr<std::string>("kind");
  const float limit = op.attr<float>("clip_norm");
  std::vector<Value> gradients;
  double squares = 0;
  for (size_t i = 0; i < op.input_count("X"); ++i) {
    gradients.push_back(writable(op.input("X", i)));
    if (kind == "by_global_norm" && in_memory(numbers_of(gradients.back())))
      squares += optim::sum_of_squares(span_of(std::as_const(numbers_of(gradients.back()))));
  }
  if (!gradients.empty() && !in_memory(numbers_of(gradients[0]))) return clip_on_device(op, std::move(gradients));
  for (size_t i = 0; i < gradients.size(); ++i) {
    const auto numbers = span_of(numbers_of(gradients[i]));
    if (kind == "by_value")
      optim::clip_by_value(numbers, op.attr<float>("min"), op.attr<float>("max"));
    else
      optim::scale(numbers, optim::clip_factor(kind == "by_norm" ? optim::sum_of_squares(numbers) : squares, limit));
    op.set_value("Out", std::move(gradients[i]), i);
  }
}

ARGOSY_OP("clip_gradients", clip)
    .doc("Limits gradients: each value, each gradient's norm, or the norm of all of them together.")
    .input_list("X", "gradients")
    .output_list("Out", "the limited gradients")
    .attr("kind", std::string("by_global_norm"), "by_value | by_norm | by_global_norm")
    .attr("min", 0.0f, "by_value: the smallest value")
    .attr("max", 0.0f, "by_value: the largest value")
    .attr("clip_norm", 0.0f, "by_norm, by_global_norm: the largest norm")
    .no_gradient();

void decay_on_device(const optim::Regularization& decay, const at::Tensor& param, at::Tensor& gradient) {
  const at::Tensor penalty = (decay.kind == optim::Regularization::l1 ? param.sign() : param) * static_cast<double>(decay.coeff);
  gradient.add_(penalty.reshape(gradient.sizes()));
}

// Every row of a table decays in every step, also where the gradient has rows of the batch only: the same numbers as those of a
// penalty that is part of the loss, and of Paddle.
ARGOSY_OP("regularize_gradient",
          [](const OpContext& op) {
            const optim::Regularization decay{
                op.attr<std::string>("kind") == "l1" ? optim::Regularization::l1 : optim::Regularization::l2,
                op.attr<float>("coeff")};
            const at::Tensor param = op.tensor("Param").detach();
            const Value& given = op.input("Grad");
            Value gradient = given.rows != nullptr ? Value{.tensor = given.rows->to_dense()} : writable(given);
            if (!in_memory(param))
              decay_on_device(decay, param, gradient.tensor);
            else
              optim::regularize(decay, span_of(param), span_of(gradient.tensor));
            op.set_value("Out", std::move(gradient));
          })
    .doc("Adds L1 or L2 weight decay to a gradient.")
    .input("Param", "the parameter")
    .input("Grad", "its gradient")
    .output("Out", "the gradient with the penalty's")
    .attr("kind", std::string("l2"), "l1 | l2")
    .attr("coeff", 0.0f, "how much")
    .no_gradient();

ARGOSY_OP("learning_rate_schedule",
          [](const OpContext& op) {
            const optim::Schedule& schedule = op.state<optim::Schedule>([&] {
              auto* made = new optim::Schedule{op.attr<std::string>("kind"), op.attr<std::vector<float>>("floats"),
                                               op.attr<std::vector<int64_t>>("ints")};
              if (Status status = made->check(); !status.ok()) {
                delete made;
                throw KernelError(status);
              }
              return made;
            });
            op.write_output("Out", at::full({1}, schedule.value(op.tensor("Step").item<int64_t>()), op.options(at::kFloat)));
          })
    .doc("The learning rate of a schedule at a step.")
    .input("Step", "the number of steps before this one")
    .output("Out", "one number")
    .attr("kind", std::string("constant"), "the schedule's name")
    .attr("floats", std::vector<float>{}, "its numbers")
    .attr("ints", std::vector<int64_t>{}, "its whole numbers")
    .infer_shape([](graph::ShapeContext& context) {
      context.set_output("Out", {1}, graph::DType::float32);
      return Status();
    })
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
