#pragma once

#include <torch/nn/modules/batchnorm.h>

#include <array>
#include <vector>

namespace argosy::collective {

// torch::nn::BatchNorm2d with what follows it in a residual network in the same pass over the memory. On a GPU (compute
// capability 8.0 or more) in training, with channels last, a multiple of 8 of them, and a momentum: by two kernels forward and
// two backward, where torch has up to six and six. Everywhere else by torch's functions; the mathematics is the same. Statistics
// are summed in float32, in a fixed order. Parameters, buffers and their names are torch's: what one has saved the other opens.
//
//   x = norm1->relu(conv1(input));
//   x = norm2->add_relu(conv2(x), input);      // relu(norm2(conv2(x)) + input)
//
// Throws c10::Error, as torch's modules do. Thread-compatible.
class FusedBatchNormImpl : public torch::nn::BatchNorm2dImpl {
 public:
  using BatchNorm2dImpl::BatchNorm2dImpl;

  at::Tensor forward(const at::Tensor& input);
  at::Tensor relu(const at::Tensor& input);
  at::Tensor add_relu(const at::Tensor& input, const at::Tensor& added);
  // The output of add_relu twice, in the same memory, for a network that goes on in two branches: their gradients are added where
  // they are needed, and not in a pass of their own. Neither may be changed in place.
  std::array<at::Tensor, 2> add_relu_for_two(const at::Tensor& input, const at::Tensor& added);

  // Whether a training forward of `input` would use the kernels.
  bool fuses(const at::Tensor& input) const;

 private:
  std::vector<at::Tensor> by_kernels(const at::Tensor& input, const at::Tensor& added, int after);

  at::Tensor counts_;  // the kernels' own, on the device; no part of what is saved
};
TORCH_MODULE(FusedBatchNorm);

}  // namespace argosy::collective
