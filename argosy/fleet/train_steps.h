#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "argosy/fleet/collective_training.h"

namespace argosy::fleet {

struct CountedStep {
  int64_t pass = 0, index = 0;  // which batch of which pass of this rank, both from 0
  double loss = 0;              // what the step returned
};

struct TrainSteps {
  int64_t passes = 1;  // of the data, in all
  uint64_t seed = 0;   // of torch's random numbers in a step, which are a function of it, the rank, the pass and the index
  std::function<void(const CountedStep&)> counted = {};  // after each step that counts, once; no collective calls in it
  std::function<void(int64_t pass)> after_pass = {};     // on all ranks: saves, measures; may be run again
};

// Forward and backward of a batch, given as indices into the data; returns the loss. It neither moves parameters nor clears
// gradients, which train_steps() does, and may be run again for the same batch.
using Step = std::function<double(const std::vector<int64_t>& batch)>;

// The same without the types of module and optimizer.
struct SteppedModel {
  torch::nn::Module& module;
  torch::optim::Optimizer& optimizer;
  collective::DataParallel& data_parallel;
  OptimizerSteps& steps;
  CollectiveJob& job;
};
void train_steps(const SteppedModel& model, collective::BatchSampler& sampler, const Step& step, const TrainSteps& how);

// Trains over the sampler's batches, from where it is. With on_rank_loss=survive a rank that dies meanwhile is started again
// alone: the others keep what they have in memory and take the step that was interrupted again, and the newcomer, which runs
// the program from its beginning, copies model, optimizer and place from one of them here. The result has the bits of an
// undisturbed run. Before this call the program makes no collective calls of its own then, and it makes the call once. Throws
// argosy::Error, and what the functions throw.
template <typename M, typename O>
void train_steps(DistributedModel<M>& model, CollectiveOptimizer<O>& optimizer, collective::BatchSampler& sampler,
                 const Step& step, const TrainSteps& how = {}, CollectiveJob& job = collective_job()) {
  train_steps({.module = *model.module(),
               .optimizer = optimizer.optimizer(),
               .data_parallel = model.parallel().data_parallel(),
               .steps = optimizer.steps(),
               .job = job},
              sampler, step, how);
}

}  // namespace argosy::fleet
