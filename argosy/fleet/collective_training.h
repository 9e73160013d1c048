#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/optim/optimizer.h>

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/collective/data_parallel.h"
#include "argosy/collective/group.h"
#include "argosy/collective/local_sgd.h"
#include "argosy/collective/sampler.h"
#include "argosy/fleet/collective_job.h"
#include "argosy/fleet/process.h"

// Collective training of libtorch modules: every process has the whole model and a part of the data. Everything here throws
// argosy::Error, and nothing else of its own; errors of a backward are torch's. Thread-compatible.
namespace argosy::fleet {

struct Collective {
  bool is_collective = true;
  std::map<std::string, std::string> settings = {};  // see docs/settings.md; the environment's ARGOSY_* win
};

// Meets the other processes of the job, whose number and place come from the environment: fleetrun's variables, torchrun's,
// mpirun's or srun's. Without any of them this process is alone, and everything works as if there were no job.
void init(const Collective& how);
void init(const Collective& how, const RankInfo& place);

// The same without a meeting: world() waits for the others where it is first asked for.
void announce(const Collective& how, const RankInfo& place);

CollectiveJob& collective_job();  // the one of this process, which everything here uses where it is given none

const std::shared_ptr<collective::Group>& world();  // all processes of the job. REQUIRES: init() or announce()
bool met();                                         // whether world() would wait for nobody
// Where this process computes: its GPU where there is one, unless ARGOSY_DEVICE says cpu.
c10::Device device();
// Leaves the job; called at exit of a process that ends well. The others would take it for lost otherwise.
void leave();

// Of a model, with what it needs to be sent; see DistributedModel.
class ParallelModel {
 public:
  ParallelModel(std::shared_ptr<torch::nn::Module> module, const collective::DataParallelOptions& options, CollectiveJob& job);
  void before_forward();
  void after_forward(const std::vector<at::Tensor>& outputs);
  collective::DataParallel& data_parallel() { return *data_parallel_; }

 private:
  std::shared_ptr<torch::nn::Module> module_;
  std::shared_ptr<collective::DataParallel> data_parallel_;
};

namespace detail {

inline void collect(std::vector<at::Tensor>& tensors, const at::Tensor& one) { tensors.push_back(one); }
template <typename T>
void collect(std::vector<at::Tensor>& tensors, const std::vector<T>& many) {
  for (const auto& one : many) collect(tensors, one);
}
template <typename... T>
void collect(std::vector<at::Tensor>& tensors, const std::tuple<T...>& many) {
  std::apply([&](const auto&... one) { (collect(tensors, one), ...); }, many);
}
template <typename A, typename B>
void collect(std::vector<at::Tensor>& tensors, const std::pair<A, B>& both) {
  collect(tensors, both.first);
  collect(tensors, both.second);
}

}  // namespace detail

// A module whose copies in all processes are kept equal: its forward is the module's own, and the gradients that a backward
// leaves are the mean over all processes. What a forward returns are tensors, in vectors, tuples and pairs.
template <typename M>
class DistributedModel {
 public:
  DistributedModel(std::shared_ptr<M> module, const collective::DataParallelOptions& options, CollectiveJob& job)
      : module_(std::move(module)), parallel_(std::make_shared<ParallelModel>(module_, options, job)) {}

  template <typename... Args>
  auto forward(Args&&... args) {
    parallel_->before_forward();
    auto outputs = module_->forward(std::forward<Args>(args)...);
    std::vector<at::Tensor> tensors;
    detail::collect(tensors, outputs);
    parallel_->after_forward(tensors);
    return outputs;
  }
  template <typename... Args>
  auto operator()(Args&&... args) {
    return forward(std::forward<Args>(args)...);
  }

  ParallelModel& parallel() { return *parallel_; }
  M* operator->() { return module_.get(); }
  M& operator*() { return *module_; }
  const std::shared_ptr<M>& module() const { return module_; }

  // Gradients stay in this process while the guard lives; the next backward outside sends their sum.
  collective::NoSync no_sync() { return collective::NoSync(parallel_->data_parallel()); }

 private:
  std::shared_ptr<M> module_;
  std::shared_ptr<ParallelModel> parallel_;
};

template <std::derived_from<torch::nn::Module> M>
DistributedModel<M> distributed_model(std::shared_ptr<M> module, const collective::DataParallelOptions& options = {},
                                      CollectiveJob& job = collective_job()) {
  return DistributedModel<M>(std::move(module), options, job);
}
template <typename M>
DistributedModel<M> distributed_model(const torch::nn::ModuleHolder<M>& module,
                                      const collective::DataParallelOptions& options = {},
                                      CollectiveJob& job = collective_job()) {
  return DistributedModel<M>(module.ptr(), options, job);
}

struct CollectiveStrategy {
  int gradient_merge = 1;  // steps whose gradients are added up, and sent once, before the parameters move
  bool gradient_merge_average = true;  // their mean, not their sum
  double clip_norm = 0;  // the gradient of all parameters together is cut to this norm; 0: it is not
  std::optional<collective::LocalSgdOptions> local_sgd = {};  // gradients stay at home, and parameters are averaged instead
};

// What every optimizer of a collective job does around the own step of torch's. It applies to all models that
// distributed_model() has made in the job.
class OptimizerSteps {
 public:
  OptimizerSteps(torch::optim::Optimizer& optimizer, const CollectiveStrategy& strategy, CollectiveJob& job);
  bool step(double loss);  // whether the parameters moved
  void clear_grad();
  const CollectiveStrategy& strategy() const { return strategy_; }
  void hold(bool held) { held_ = held; }  // while held, step() is an error: train_steps() makes it

 private:
  std::vector<at::Tensor> gradients() const;

  torch::optim::Optimizer& optimizer_;
  CollectiveStrategy strategy_;
  std::optional<collective::LocalSgd> local_sgd_;
  int64_t backwards_ = 0;
  bool held_ = false;
};

// An optimizer of torch's in a collective job. Owns it; stays where it was made.
template <std::derived_from<torch::optim::Optimizer> O>
class CollectiveOptimizer {
 public:
  CollectiveOptimizer(O optimizer, const CollectiveStrategy& strategy, CollectiveJob& job)
      : optimizer_(std::make_unique<O>(std::move(optimizer))),
        steps_(std::make_unique<OptimizerSteps>(*optimizer_, strategy, job)) {}

  // After a backward. Returns whether the parameters moved: not every time with gradient_merge. `loss` is for adaptive LocalSGD.
  bool step(double loss = 0) { return steps_->step(loss); }
  // Forgets the gradients that have been used; those that are still being merged stay.
  void clear_grad() { steps_->clear_grad(); }
  void zero_grad() { clear_grad(); }

  double get_lr() const { return optimizer_->param_groups().front().options().get_lr(); }
  void set_lr(double rate) {
    for (auto& group : optimizer_->param_groups()) group.options().set_lr(rate);
  }

  OptimizerSteps& steps() { return *steps_; }
  O& optimizer() { return *optimizer_; }
  const O& optimizer() const { return *optimizer_; }

 private:
  std::unique_ptr<O> optimizer_;
  std::unique_ptr<OptimizerSteps> steps_;
};

template <std::derived_from<torch::optim::Optimizer> O>
CollectiveOptimizer<O> distributed_optimizer(O optimizer, const CollectiveStrategy& strategy = {},
                                             CollectiveJob& job = collective_job()) {
  return CollectiveOptimizer<O>(std::move(optimizer), strategy, job);
}

// Model, optimizer and, where given, a sampler's position, in one file that the first process writes and that appears whole or
// not at all; every process must call it. The launcher starts a group again from the last one.
void save_checkpoint(const torch::nn::Module& module, const torch::optim::Optimizer& optimizer, const std::string& path,
                     const collective::BatchSampler* sampler = nullptr, CollectiveJob& job = collective_job());
// The first process reads it and tells the others. `path` empty: the one that the launcher resumes from (ARGOSY_RESUME);
// false, and nothing changed, where there is none.
bool load_checkpoint(torch::nn::Module& module, torch::optim::Optimizer& optimizer, const std::string& path = "",
                     collective::BatchSampler* sampler = nullptr, CollectiveJob& job = collective_job());

template <typename O>
void save(const torch::nn::Module& module, const CollectiveOptimizer<O>& optimizer, const std::string& path,
          const collective::BatchSampler* sampler = nullptr, CollectiveJob& job = collective_job()) {
  save_checkpoint(module, optimizer.optimizer(), path, sampler, job);
}
template <typename O>
bool load(torch::nn::Module& module, CollectiveOptimizer<O>& optimizer, const std::string& path = "",
          collective::BatchSampler* sampler = nullptr, CollectiveJob& job = collective_job()) {
  return load_checkpoint(module, optimizer.optimizer(), path, sampler, job);
}

}  // namespace argosy::fleet

namespace argosy {

// This process's batches of a dataset of `size` samples. REQUIRES: fleet::init().
class DistributedBatchSampler : public collective::BatchSampler {
 public:
  explicit DistributedBatchSampler(int64_t size, collective::BatchSamplerOptions options = {},
                                   fleet::CollectiveJob& job = fleet::collective_job());
};

}  // namespace argosy
