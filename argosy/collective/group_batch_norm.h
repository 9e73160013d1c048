#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "argosy/collective/group.h"

namespace argosy::collective {

struct BatchNormState {
  at::Tensor weight, bias;                  // undefined: none
  at::Tensor running_mean, running_var;     // undefined: none; changed in training
  double momentum = 0.1;                    // weight of the new value
  double eps = 1e-5;
  bool biased_var = false;  // running_var follows the batch's own variance, as in PaddlePaddle, not the estimate from it
};

// Batch normalisation over the samples of all members: mean and variance, and their gradients, are those of the combined batch,
// whose parts may be of different sizes. Channels are dimension 1. Where `training` is off, the running values are used and
// nothing is sent. Throws c10::Error, as functions of torch do.
at::Tensor sync_batch_norm(const at::Tensor& input, const BatchNormState& state, bool training, std::shared_ptr<Group> group);

}  // namespace argosy::collective
