// Losses that are multiplied by a factor: what happens to their gradients before the update, and how the factor moves.
#include <ATen/ATen.h>

#include "argosy/base/mutex.h"
#include "argosy/engine/program/op.h"

namespace argosy::engine {
namespace {

// A gradient, dense or of rows, whose numbers are what `change` makes of them.
template <typename Change>
Value with_numbers(const Value& gradient, Change change) {
  if (gradient.rows == nullptr) return {.tensor = change(gradient.tensor)};
  auto rows = std::make_shared<LookupGradient>(*gradient.rows);
  for (LookupGradient::Piece& piece : rows->pieces) piece.gradient = change(piece.gradient);
  return {.rows = std::move(rows)};
}

void check_and_unscale(const OpContext& op) {
  op.not_captured("looks whether gradients are finite");
  const at::Tensor scale = op.tensor("Scale");
  at::Tensor finite = at::ones({1}, op.options(at::kBool));
  for (size_t i = 0; i < op.input_count("X"); ++i) {
    op.set_value("Out",
                 with_numbers(op.input("X", i),
                              [&](const at::Tensor& numbers) {
                                finite.logical_and_(at::isfinite(numbers).all());
                                return numbers / scale.to(numbers.scalar_type());
                              }),
                 i);
  }
  Value found{.tensor = finite.logical_not()};
  if (!found.tensor.is_cpu()) found.fed = found.tensor.cpu();  // one wait, and not one for each update
  op.set_value("FoundInfinite", std::move(found));
}

ARGOSY_OP("check_finite_and_unscale", check_and_unscale)
    .doc("Gradients of a loss that was multiplied by Scale, divided by it, and whether one of them is NaN or infinite.")
    .input_list("X", "gradients, dense or of rows")
    .input("Scale", "one number")
    .output_list("Out", "the gradients of the loss itself")
    .output("FoundInfinite", "one truth value")
    .no_gradient();

struct ScalingStep {
  at::Tensor scale, good, bad;
};

// As PaddlePaddle's operator counts: after so many steps in a row, and never below 1 nor infinite.
ScalingStep next_step(const OpContext& op, bool infinite) {
  const at::Tensor &scale = op.tensor("PrevLossScaling"), &good = op.tensor("InGoodSteps"), &bad = op.tensor("InBadSteps");
  const at::Tensor count = (infinite ? bad : good) + 1, none = at::zeros_like(good);
  const at::Tensor due = count == op.attr<int32_t>(infinite ? "decr_every_n_nan_or_inf" : "incr_every_n_steps");
  at::Tensor moved = scale * op.attr<float>(infinite ? "decr_ratio" : "incr_ratio");
  moved = infinite ? moved.clamp_min(1) : at::where(at::isfinite(moved), moved, scale);
  const at::Tensor left = at::where(due, none, count);
  return {.scale = at::where(due, moved, scale), .good = infinite ? none : left, .bad = infinite ? left : none};
}

void update_loss_scaling(const OpContext& op) {
  op.not_captured("moves the factor of losses");
  const bool infinite = op.on_cpu("FoundInfinite").item<bool>();
  for (size_t i = 0; i < op.input_count("X"); ++i) {
    const Value& gradient = op.input("X", i);
    op.set_value("Out", infinite ? with_numbers(gradient, [](const at::Tensor& one) { return at::zeros_like(one); }) : gradient,
                 i);
  }
  if (op.attr<bool>("stop_update")) return;
  static Mutex& counting = *new Mutex;  // trainer threads share the factor
  const MutexLock lock(counting);
  const ScalingStep step = next_step(op, infinite);
  op.write_output("LossScaling", step.scale);
  op.write_output("OutGoodSteps", step.good);
  op.write_output("OutBadSteps", step.bad);
}

ARGOSY_OP("update_loss_scaling", update_loss_scaling)
    .doc("Moves the factor of a loss by what was found in its gradients, which become 0 where one of them is not finite.")
    .input_list("X", "gradients, dense or of rows")
    .input("FoundInfinite", "one truth value")
    .input("PrevLossScaling", "one number, the factor")
    .input("InGoodSteps", "how many steps in a row were finite")
    .input("InBadSteps", "how many were not")
    .output_list("Out", "the gradients, or 0")
    .output("LossScaling", "the same variable as PrevLossScaling")
    .output("OutGoodSteps", "the same variable as InGoodSteps")
    .output("OutBadSteps", "the same variable as InBadSteps")
    .attr("incr_every_n_steps", 1000, "after so many finite steps in a row the factor grows")
    .attr("decr_every_n_nan_or_inf", 2, "after so many others it falls")
    .attr("incr_ratio", 2.0f, "by what it is multiplied then")
    .attr("decr_ratio", 0.8f, "by what it is multiplied then; at least 1 is left")
    .attr("stop_update", false, "the factor stays as it is")
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
