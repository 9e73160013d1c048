#pragma once

#include "argosy/base/status.h"
#include "argosy/engine/remote/context.h"
#include "argosy/engine/remote/peers.h"
#include "argosy/fleet/collective_job.h"
#include "argosy/graph/program.h"

namespace argosy::fleet {

// Makes a program that minimize() has completed one of a collective job: right after the backward pass, before anything is
// clipped or updated, the gradients become their mean over all processes of `job`, and `startup` ends with the first process's
// values. Both are changed in place, once, and are run with `context`, whose peers are the job's from now on. Waits for nobody:
// the processes meet when the startup program runs. REQUIRES: the job outlives the context.
Status share_gradients(graph::Program& main, graph::Program& startup, engine::Context& context, CollectiveJob& job,
                       const engine::AverageOptions& options = {});

}  // namespace argosy::fleet
