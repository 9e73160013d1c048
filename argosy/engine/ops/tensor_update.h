#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace argosy::engine {

// Tensors that one step of a rule moves: param[i] by grad[i], with states[k][i] for the k-th element state of the rule.
struct TensorUpdate {
  std::vector<at::Tensor> param, grad;
  std::vector<std::vector<at::Tensor>> states;
};

}  // namespace argosy::engine
