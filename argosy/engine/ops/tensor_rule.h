#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/optim/rule.h"

namespace argosy::engine {

// Tensors that one step of a rule moves: param[i] by grad[i], with states[k][i] for the k-th element state of the rule.
struct TensorUpdate {
  std::vector<at::Tensor> param, grad;
  std::vector<std::vector<at::Tensor>> states;
};

// One step of `rule` on all tensors of `update`, in place and without recording; begin_step() is called once, so they share
// `rate` and `scalars`, which it advances. Dense float32 on the CPU is moved by the rule's span kernel, on the calling thread;
// everything else (other devices, other element types) by the same formula on whole lists. Gradients become the parameters'
// type. Lists of unequal length and shapes that do not agree are errors that name the position.
Status step_tensors(const optim::Rule& rule, float rate, std::span<float> scalars, const TensorUpdate& update);

// The same by the formula on lists, whatever the tensors are: for tests, which hold the two equal.
Status step_tensor_lists(const optim::Rule& rule, float rate, std::span<float> scalars, const TensorUpdate& update);

// Moves the tensors by a step that has begun, by the formula on lists.
void move_tensor_lists(const optim::Rule& rule, const optim::Step& step, const TensorUpdate& update);

// A whole step by the formula on lists, of which the CPU knows no number: the rate (undefined: the rule uses none) and the scalar
// states, which advance in place, are tensors of one element where the parameters are. REQUIRES: at least one parameter.
void step_by_tensors(const optim::Rule& rule, const at::Tensor& rate, const std::vector<at::Tensor>& scalars,
                     const TensorUpdate& update);

}  // namespace argosy::engine
