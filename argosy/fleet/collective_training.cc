#include "argosy/fleet/collective_training.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/cuda.h>
#include <torch/nn/utils/clip_grad.h>

#include <cstdlib>

#include "argosy/base/error.h"
#include "argosy/collective/guard.h"

namespace argosy::fleet {
namespace {

using collective::DataParallel;
using collective::Group;
using collective::NamedTensor;

std::vector<NamedTensor> named(const torch::OrderedDict<std::string, at::Tensor>& tensors) {
  std::vector<NamedTensor> all;
  for (const auto& one : tensors) {
    if (one.value().defined()) all.push_back({one.key(), one.value()});
  }
  return all;
}

}  // namespace

void init(const Collective& how) { init(how, value_or_throw(rank_info_from_environment())); }

void init(const Collective& how, const RankInfo& place) {
  announce(how, place);
  world();
}

void announce(const Collective& how, const RankInfo& place) {
  if (!how.is_collective) {
    throw Error(
        Status::invalid_argument("init() with is_collective=false is for parameter-server jobs: call init() or init(role)"));
  }
  RankInfo here = place;
  if (here.device.empty()) here.device = torch::cuda::is_available() ? fmt::format("gpu:{}", here.local_rank) : "cpu";
  Settings settings = value_or_throw(Settings::from_environment(how.settings));
  leave();
  set_process({.role = Role::worker, .index = here.rank, .worker_count = here.world_size, .worker_endpoints = here.endpoints},
              peers_of(collective_job()));
  collective_job().announce(std::move(here), std::move(settings));
  static const int at_exit = std::atexit([] { leave(); });
  static_cast<void>(at_exit);
}

CollectiveJob& collective_job() {
  static CollectiveJob& instance = *new CollectiveJob;
  return instance;
}

void leave() {
  if (collective_job().leave()) set_process(this_role(), no_peers());
}

bool met() { return collective_job().met(); }
const std::shared_ptr<Group>& world() { return collective_job().world(); }
c10::Device device() { return world()->device(); }

ParallelModel::ParallelModel(std::shared_ptr<torch::nn::Module> module, const collective::DataParallelOptions& options,
                             CollectiveJob& job)
    : module_(std::move(module)),
      data_parallel_(value_or_throw(
          DataParallel::make(job.world(), named(module_->named_parameters()), named(module_->named_buffers()), options))) {
  job.add_model(data_parallel_);
}

void ParallelModel::before_forward() { throw_if_error(data_parallel_->before_forward(module_->is_training())); }
void ParallelModel::after_forward(const std::vector<at::Tensor>& outputs) {
  throw_if_error(data_parallel_->after_forward(outputs));
}

OptimizerSteps::OptimizerSteps(torch::optim::Optimizer& optimizer, const CollectiveStrategy& strategy, CollectiveJob& job)
    : optimizer_(optimizer), strategy_(strategy) {
  std::vector<at::Tensor> parameters;
  for (const auto& model : job.models()) {
    model->set_accumulation(strategy_.gradient_merge);
    if (strategy_.local_sgd) model->set_sync(false);
    for (const auto& one : model->parameters()) parameters.push_back(one.tensor);
  }
  if (strategy_.local_sgd) local_sgd_.emplace(job.world(), std::move(parameters), *strategy_.local_sgd);
}

std::vector<at::Tensor> OptimizerSteps::gradients() const {
  std::vector<at::Tensor> all;
  for (const auto& group : optimizer_.param_groups()) {
    for (const auto& parameter : group.params()) {
      if (parameter.grad().defined()) all.push_back(parameter.grad());
    }
  }
  return all;
}

bool OptimizerSteps::step(double loss) {
  if (held_) {
    throw Error(Status::failed_precondition(
        "the optimizer's step() within a step of train_steps(): a step is forward and backward, and train_steps() moves the "
        "parameters once all ranks have the gradients; leave step() and clear_grad() out"));
  }
  if (++backwards_ % std::max(strategy_.gradient_merge, 1) != 0) return false;
  throw_if_error(collective::guarded([&] {
    const at::NoGradGuard no_grad;
    if (strategy_.gradient_merge > 1 && strategy_.gradient_merge_average) {
      for (auto& gradient : gradients()) gradient.div_(strategy_.gradient_merge);
    }
    if (strategy_.clip_norm > 0) torch::nn::utils::clip_grad_norm_(optimizer_.parameters(), strategy_.clip_norm);
    optimizer_.step();
  }));
  if (local_sgd_) value_or_throw(local_sgd_->step(loss, optimizer_.param_groups().front().options().get_lr()));
  return true;
}

// Views of the pieces that are sent are cleared in place, so that the reducer finds them again; the others are given back, and
// the next backward need not add to them.
void OptimizerSteps::clear_grad() {
  if (backwards_ % std::max(strategy_.gradient_merge, 1) != 0) return;
  std::vector<at::Tensor> dense;
  for (const auto& group : optimizer_.param_groups()) {
    for (auto& parameter : group.params()) {
      at::Tensor& gradient = const_cast<at::Tensor&>(parameter).mutable_grad();
      if (!gradient.defined()) continue;
      if (gradient.is_sparse() || !gradient.is_view())
        gradient.reset();
      else
        dense.push_back(gradient);
    }
  }
  const at::NoGradGuard no_grad;
  if (!dense.empty()) at::_foreach_zero_(dense);
}

}  // namespace argosy::fleet

namespace argosy {

DistributedBatchSampler::DistributedBatchSampler(int64_t size, collective::BatchSamplerOptions options, fleet::CollectiveJob& job)
    : BatchSampler(size, job.world()->rank(), job.world()->size(), options) {}

}  // namespace argosy
