#pragma once

#include "argosy/base/status.h"
#include "argosy/launch/process/training_program.h"
#include "argosy/launch/servers/server_job.h"

namespace argosy::launch {

// Gives every process of a job with parameter servers a token of this run (ARGOSY_TOKEN, in the environment alone), where the
// whole job starts here and nobody has given it one: only processes of the run can then use its servers. A job of which other
// launchers start a part cannot learn it from here: its servers say that they are open, and it is refused where it must not be
// (security=required).
Status give_token(ServerJob& job, const TrainingProgram& program);

}  // namespace argosy::launch
