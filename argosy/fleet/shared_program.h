#pragma once

#include "argosy/base/status.h"
#include "argosy/engine/peers.h"
#include "argosy/graph/program.h"

namespace argosy::fleet {

// Makes a program that minimize() has completed one of a collective job: right after the backward pass, before anything is
// clipped or updated, the gradients become their mean over all processes, and `startup` ends with the first process's values.
// Both are changed in place, once. Waits for nobody: the processes of world() meet when the startup program runs.
Status share_gradients(graph::Program& main, graph::Program& startup, const engine::AverageOptions& options = {});

}  // namespace argosy::fleet
