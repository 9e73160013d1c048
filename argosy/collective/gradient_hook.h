#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/comm.hpp>

#include "argosy/collective/gradient_type.h"
#include "argosy/collective/group.h"

namespace argosy::collective {

// How a piece of gradients becomes its mean over the group: divided, sent in `type`, added, and given its own type back. One
// division a piece, where c10d's own hook divides parameter by parameter; a failure is told with the names of those who are
// to blame. The group outlives it.
std::unique_ptr<c10d::CommHookInterface> make_gradient_hook(const Group& group, GradientType type);

}  // namespace argosy::collective
