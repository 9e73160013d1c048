#include "argosy/fleet/collective.h"

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
using collective::ReduceOp;

struct State {
  std::optional<std::pair<Place, Settings>> announced;  // where world is not there yet
  std::shared_ptr<Group> world;
  std::vector<std::weak_ptr<DataParallel>> models;
};

State& state() {
  static State& instance = *new State;
  return instance;
}

Result<ReduceOp> mode_of(const std::string& mode) {
  if (mode == "sum" || mode == "max" || mode == "min") return collective::parse_reduce_op(mode);
  return Status::invalid_argument("all_reduce: mode '{}' is none of sum, max, min", mode);
}

class GroupPeers final : public Peers {
 public:
  explicit GroupPeers(std::shared_ptr<Group> group) : group_(std::move(group)) {}  // null: world()

  void barrier() const override { throw_if_error(group().barrier()); }
  void all_reduce(std::vector<double>& values, const std::string& mode) const override { reduce(values, mode, at::kDouble); }
  void all_reduce(std::vector<int64_t>& values, const std::string& mode) const override { reduce(values, mode, at::kLong); }
  std::vector<std::string> all_gather(const std::string& bytes) const override {
    return value_or_throw(group().all_gather(bytes));
  }
  std::optional<size_t> next(const std::string&, size_t) const override {
    throw Error(Status::unimplemented("files are handed out by the servers of a parameter-server job; use get_file_shard()"));
  }

 private:
  template <typename T>
  void reduce(std::vector<T>& values, const std::string& mode, at::ScalarType type) const {
    const ReduceOp op = value_or_throw(mode_of(mode));
    at::Tensor own = at::from_blob(values.data(), {static_cast<int64_t>(values.size())}, type);
    at::Tensor tensor = own.to(group().device());
    throw_if_error(group().all_reduce(tensor, op));
    own.copy_(tensor);
  }

  Group& group() const { return group_ ? *group_ : *world(); }

  std::shared_ptr<Group> group_;
};

std::vector<NamedTensor> named(const torch::OrderedDict<std::string, at::Tensor>& tensors) {
  std::vector<NamedTensor> all;
  for (const auto& one : tensors) {
    if (one.value().defined()) all.push_back({one.key(), one.value()});
  }
  return all;
}

}  // namespace

void init(const Collective& how) { init(how, value_or_throw(place_from_environment())); }

void init(const Collective& how, const Place& place) {
  announce(how, place);
  world();
}

void announce(const Collective& how, const Place& place) {
  if (!how.is_collective) {
    throw Error(
        Status::invalid_argument("init() with is_collective=false is for parameter-server jobs: call init() or init(role)"));
  }
  Place here = place;
  if (here.device.empty()) here.device = torch::cuda::is_available() ? fmt::format("gpu:{}", here.local_rank) : "cpu";
  Settings settings = value_or_throw(Settings::from_environment(how.settings));
  leave();
  set_process({.role = Role::worker, .index = here.rank, .worker_count = here.world_size, .worker_endpoints = here.endpoints},
              std::make_shared<GroupPeers>(nullptr));
  state().announced.emplace(std::move(here), std::move(settings));
  static const int at_exit = std::atexit([] { leave(); });
  static_cast<void>(at_exit);
}

void leave() {
  state().announced.reset();
  if (!state().world) return;
  state().world->leave();  // others may hold it still
  set_process(this_role(), std::make_shared<GroupPeers>(value_or_throw(Group::join(Place{}, Settings()))));
  state().world.reset();
  state().models.clear();
}

bool met() { return state().world != nullptr; }

const std::shared_ptr<Group>& world() {
  if (!state().world && state().announced) {
    state().world = value_or_throw(Group::join(state().announced->first, state().announced->second));
    state().announced.reset();
  }
  if (!state().world) {
    throw Error(
        Status::failed_precondition("this process is in no collective job; call fleet::init({{.is_collective = true}}) first"));
  }
  return state().world;
}

c10::Device device() { return world()->device(); }

ParallelModel::ParallelModel(std::shared_ptr<torch::nn::Module> module, const collective::DataParallelOptions& options)
    : module_(std::move(module)),
      data_parallel_(value_or_throw(
          DataParallel::make(world(), named(module_->named_parameters()), named(module_->named_buffers()), options))) {
  state().models.push_back(data_parallel_);
}

void ParallelModel::before_forward() { throw_if_error(data_parallel_->before_forward(module_->is_training())); }
void ParallelModel::after_forward(const std::vector<at::Tensor>& outputs) {
  throw_if_error(data_parallel_->after_forward(outputs));
}

OptimizerSteps::OptimizerSteps(torch::optim::Optimizer& optimizer, const CollectiveStrategy& strategy)
    : optimizer_(optimizer), strategy_(strategy) {
  std::vector<at::Tensor> parameters;
  for (const auto& weak : state().models) {
    const auto model = weak.lock();
    if (!model) continue;
    model->set_accumulation(strategy_.gradient_merge);
    if (strategy_.local_sgd) model->set_sync(false);
    for (const auto& one : model->parameters()) parameters.push_back(one.tensor);
  }
  if (strategy_.local_sgd) local_sgd_.emplace(world(), std::move(parameters), *strategy_.local_sgd);
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

DistributedBatchSampler::DistributedBatchSampler(int64_t size, collective::BatchSamplerOptions options)
    : BatchSampler(size, fleet::world()->rank(), fleet::world()->size(), options) {}

}  // namespace argosy
