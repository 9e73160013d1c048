#include "argosy/collective/fused_adam.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/serialize/archive.h>

namespace argosy::collective {

using torch::optim::AdamOptions;
using torch::optim::AdamParamState;

torch::Tensor FusedAdam::step(LossClosure closure) {
  const at::NoGradGuard no_grad;
  torch::Tensor loss;
  if (closure) {
    const at::AutoGradMode with_grad(true);
    loss = closure();
  }
  for (auto& group : param_groups_) update(group);
  return loss;
}

void FusedAdam::update(torch::optim::OptimizerParamGroup& group) {
  const auto& options = static_cast<const AdamOptions&>(group.options());
  Lists lists;
  for (auto& parameter : group.params()) {
    if (parameter.grad().defined()) add(lists, parameter, options);
  }
  if (lists.parameters.empty()) return;
  at::_foreach_add_(lists.steps, 1);
  at::_fused_adam_(lists.parameters, lists.gradients, lists.first, lists.second, lists.largest, lists.steps, options.lr(),
                   std::get<0>(options.betas()), std::get<1>(options.betas()), options.weight_decay(), options.eps(),
                   options.amsgrad(),
                   /*maximize=*/false);
}

void FusedAdam::add(Lists& lists, at::Tensor& parameter, const AdamOptions& options) {
  TORCH_CHECK(!parameter.grad().is_sparse(), "FusedAdam does not take sparse gradients; use torch::optim::SGD, or Adagrad");
  void* key = parameter.unsafeGetTensorImpl();
  auto& slot = state_[key];
  if (!slot) {
    auto state = std::make_unique<AdamParamState>();
    state->step(0);
    state->exp_avg(at::zeros_like(parameter, at::MemoryFormat::Preserve));
    state->exp_avg_sq(at::zeros_like(parameter, at::MemoryFormat::Preserve));
    if (options.amsgrad()) state->max_exp_avg_sq(at::zeros_like(parameter, at::MemoryFormat::Preserve));
    slot = std::move(state);
  }
  auto& state = static_cast<AdamParamState&>(*slot);
  auto& count = steps_[key];
  if (!count.defined()) count = at::full({}, static_cast<double>(state.step()), parameter.options().dtype(at::kFloat));
  lists.parameters.push_back(parameter);
  lists.gradients.push_back(parameter.grad());
  lists.first.push_back(state.exp_avg());
  lists.second.push_back(state.exp_avg_sq());
  if (options.amsgrad()) lists.largest.push_back(state.max_exp_avg_sq());
  lists.steps.push_back(count);
}

void FusedAdam::counts_to_states() const {
  for (const auto& [key, count] : steps_) {
    static_cast<AdamParamState&>(*state_.at(key)).step(static_cast<int64_t>(count.item<float>()));
  }
}

void FusedAdam::save(torch::serialize::OutputArchive& archive) const {
  counts_to_states();
  Adam::save(archive);
}

void FusedAdam::load(torch::serialize::InputArchive& archive) {
  Adam::load(archive);
  steps_.clear();
}

}  // namespace argosy::collective
