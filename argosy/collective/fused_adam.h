#pragma once

#include <torch/optim/adam.h>

#include <vector>

namespace argosy::collective {

// torch::optim::Adam with one kernel for all parameters of a group, and with its step counts on their device, so that a
// captured step replays it. The same numbers and the same saved form as Adam's. Sparse gradients are refused, as Adam refuses
// them. Thread-compatible.
class FusedAdam : public torch::optim::Adam {
 public:
  using Adam::Adam;

  torch::Tensor step(LossClosure closure = nullptr) override;
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 private:
  // The tensors of one parameter group that have a gradient, in the form that the kernel takes.
  struct Lists {
    std::vector<at::Tensor> parameters, gradients, first, second, largest, steps;
  };

  void update(torch::optim::OptimizerParamGroup& group);
  void add(Lists& lists, at::Tensor& parameter, const torch::optim::AdamOptions& options);
  void counts_to_states() const;

  std::unordered_map<void*, at::Tensor> steps_;  // by parameter
};

}  // namespace argosy::collective
