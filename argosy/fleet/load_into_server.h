#pragma once

#include "argosy/base/status.h"
#include "argosy/engine/program/model_io.h"
#include "argosy/engine/program/scope.h"
#include "argosy/fleet/plan.h"
#include "argosy/fleet/server_model.h"
#include "argosy/ps/server/server.h"

namespace argosy::fleet {

// Gives a server its part of the model, and says in the log what was loaded, what the folder lacks and what nobody asked for. A
// file of another shape is an error that names it, and so is a name in `names` that the job or the folder does not have.
// A snapshot has a table with its states: names are those of parameters then.
Result<engine::LoadReport> load_model(ps::Server& server, const Plan& plan, const ServerModel& model);

// The same with the values that the scope has (a startup program or load_persistables made them).
Status give_values(ps::Server& server, const Plan& plan, const engine::Scope& scope);

}  // namespace argosy::fleet
