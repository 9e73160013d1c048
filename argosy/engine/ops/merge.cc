// Gradients of several steps that make one update.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "argosy/engine/program/op.h"
#include "argosy/engine/remote/peers.h"

namespace argosy::engine {
namespace {

void merge_gradients(const OpContext& op) {
  at::NoGradGuard no_grad;
  const int64_t step = op.tensor("Step").item<int64_t>() + 1, steps = op.attr<int32_t>("k_steps");
  const bool due = step % steps == 0;
  for (size_t i = 0; i < op.input_count("X"); ++i) {
    const Value& gradient = op.input("X", i);
    at::Tensor sum = op.tensor("Sums", i).detach();
    sum.add_(gradient.rows != nullptr ? gradient.rows->to_dense() : gradient.tensor);
    if (!due) continue;
    op.set_output("Out", op.attr<bool>("avg") ? sum / static_cast<double>(steps) : sum.clone(), nullptr, i);
    sum.zero_();
  }
  op.write_output("StepOut", at::full({1}, step, op.options(at::kLong)));
  op.set_output("Due", at::full({1}, due, op.options(at::kBool)));
}

ARGOSY_OP(std::string(kMergeOp), merge_gradients)
    .doc("Adds gradients up over k_steps runs; in the last of them they become the mean, or the sum, and the sums 0.")
    .input_list("X", "gradients, dense or of rows")
    .input_list("Sums", "what they are added to, one for each; changed in place")
    .input("Step", "one int64: the runs so far")
    .output_list("Out", "the same variables as X, dense where an update is due")
    .output_list("SumsOut", "the same variables as Sums")
    .output("StepOut", "the same variable as Step")
    .output("Due", "one bool: whether an update is due")
    .attr("k_steps", 1, "runs for one update")
    .attr("avg", true, "the mean instead of the sum")
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
