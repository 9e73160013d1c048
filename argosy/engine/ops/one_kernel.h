#pragma once

#include "argosy/engine/ops/tensor_update.h"
#include "argosy/optim/rule.h"

namespace argosy::engine {

// Moves all tensors of an update by one kernel of torch's where it has one that computes the step's formula (Adam, AdamW), in
// place of some fourteen calls for lists. False, and nothing has moved, where it has none, or where the tensors are not what that
// takes: of one device and one floating type, with states and gradients that lie in memory as their parameters do.
bool moved_by_one_kernel(const optim::Rule& rule, const optim::Step& step, const TensorUpdate& update);

}  // namespace argosy::engine
