#pragma once

#include <torch/nn/modules/batchnorm.h>

#include <memory>

#include "argosy/collective/group.h"

namespace argosy::fleet {

// torch::nn::BatchNorm1d, 2d and 3d over the samples of all processes: mean, variance and their gradients are those of the
// combined batch, and so are the running values. Parameters, buffers and their names are those of torch's modules: what one has
// saved the other opens. `group`: whose samples; the world's where none is given.
class SyncBatchNormImpl : public torch::nn::NormImplBase<0, SyncBatchNormImpl, torch::nn::BatchNormOptions> {
 public:
  explicit SyncBatchNormImpl(const torch::nn::BatchNormOptions& options, std::shared_ptr<collective::Group> group = nullptr);
  explicit SyncBatchNormImpl(int64_t channels) : SyncBatchNormImpl(torch::nn::BatchNormOptions(channels)) {}

  // Input: [samples, channels, …]. Throws c10::Error, as torch's modules do.
  at::Tensor forward(const at::Tensor& input);
  void pretty_print(std::ostream& stream) const override;

 private:
  void _check_input_dim(const at::Tensor& input) override;
  double momentum();  // of this call, which it counts

  std::shared_ptr<collective::Group> group_;
};
TORCH_MODULE(SyncBatchNorm);

}  // namespace argosy::fleet
