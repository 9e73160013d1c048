#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/engine/ops/tensor_update.h"
#include "argosy/optim/rule.h"

namespace argosy::engine {

// One step of `rule` on all tensors of `update`, in place and without recording; begin_step() is called once, so they share
// `rate` and `scalars`, which it advances. Dense float32 on the CPU is moved by the rule's span kernel, on the calling thread;
// everything else (other devices, other element types) by move_tensor_lists(). Gradients become the parameters'
// type. Lists of unequal length and shapes that do not agree are errors that name the position.
Status step_tensors(const optim::Rule& rule, float rate, std::span<float> scalars, const TensorUpdate& update);

// The same by the formula on lists, whatever the tensors are: for tests, which hold the ways equal.
Status step_tensor_lists(const optim::Rule& rule, float rate, std::span<float> scalars, const TensorUpdate& update);

// Moves the tensors by a step that has begun: by torch's one kernel for all of them where it has one of this formula
// (one_kernel.h), else by the formula on lists.
void move_tensor_lists(const optim::Rule& rule, const optim::Step& step, const TensorUpdate& update);
// REQUIRES: at least one parameter.
void move_by_formula(const optim::Rule& rule, const optim::Step& step, const TensorUpdate& update);

// A whole step by the formula on lists, of which the CPU knows no number: the rate (undefined: the rule uses none) and the scalar
// states, which advance in place, are tensors of one element where the parameters are. REQUIRES: at least one parameter.
void step_by_tensors(const optim::Rule& rule, const at::Tensor& rate, const std::vector<at::Tensor>& scalars,
                     const TensorUpdate& update);

}  // namespace argosy::engine
