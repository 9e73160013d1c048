#pragma once

#include <string>

#include "argosy/base/status.h"
#include "argosy/engine/scope.h"
#include "argosy/fleet/plan.h"
#include "argosy/ps/server.h"

namespace argosy::fleet {

// Gives a server its part of what `folder` holds: one file a variable, as save_persistables writes, or a snapshot. Says in the
// log what was loaded, what the folder lacks and what nobody asked for. A file of another shape is an error that names it.
Status load_model(ps::Server& server, const Plan& plan, const std::string& folder);

// The same with the values that the scope has (a startup program or load_persistables made them).
Status give_values(ps::Server& server, const Plan& plan, const engine::Scope& scope);

}  // namespace argosy::fleet
