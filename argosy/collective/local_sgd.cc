#include "argosy/collective/local_sgd.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace argosy::collective {
namespace {

constexpr int kMostSteps = 16;

}  // namespace

LocalSgd::LocalSgd(std::shared_ptr<Group> group, std::vector<at::Tensor> parameters, LocalSgdOptions options)
    : group_(std::move(group)), parameters_(std::move(parameters)), options_(options), k_steps_(std::max(options.k_steps, 1)) {}

Result<bool> LocalSgd::step(double loss, double learning_rate) {
  ++steps_;
  ++since_average_;
  if (steps_ == 1) first_loss_ = loss, first_rate_ = learning_rate;
  if (steps_ > options_.begin_step && since_average_ < k_steps_) return false;
  since_average_ = 0;
  RETURN_IF_ERROR(average());
  if (options_.adaptive && steps_ >= options_.begin_step) RETURN_IF_ERROR(choose(loss, learning_rate));
  return true;
}

Status LocalSgd::average() {
  if (group_->size() == 1) return {};
  const at::NoGradGuard no_grad;
  std::map<at::ScalarType, std::vector<at::Tensor>> by_type;
  for (const auto& one : parameters_) by_type[one.scalar_type()].push_back(one.detach());
  for (auto& [type, tensors] : by_type) {
    std::vector<at::Tensor> flat;
    for (const auto& one : tensors) flat.push_back(one.reshape({-1}));
    at::Tensor all = at::cat(flat);
    RETURN_IF_ERROR(group_->all_reduce(all, ReduceOp::average));
    int64_t begin = 0;
    for (auto& one : tensors) {
      one.copy_(all.narrow(0, begin, one.numel()).view(one.sizes()));
      begin += one.numel();
    }
  }
  return {};
}

Status LocalSgd::choose(double loss, double learning_rate) {
  at::Tensor losses =
      at::tensor({loss, first_loss_}, at::kDouble).to(group_->device());  // both: every member must choose the same k
  RETURN_IF_ERROR(group_->all_reduce(losses, ReduceOp::average));
  const double now = losses[0].item<double>(), first = losses[1].item<double>();
  const double wanted = std::sqrt(options_.k_steps * first_rate_ * now / (learning_rate * first));
  if (std::isfinite(wanted)) k_steps_ = std::clamp(static_cast<int>(std::ceil(wanted)), 1, kMostSteps);
  return {};
}

}  // namespace argosy::collective
