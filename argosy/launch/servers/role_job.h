#pragma once

#include "argosy/base/status.h"
#include "argosy/launch/process/enclosing_job.h"
#include "argosy/launch/process/training_program.h"
#include "argosy/launch/servers/server_job.h"

namespace argosy::launch {

// Whether a job with parameter servers as `options` describe it may start in `enclosing`: one that would start as often as there
// are launchers, or beside the job that it is in, is refused, with what to do instead. Where it is the pod of one process,
// options that say nothing about servers and workers join it.
Status check_may_start(const ServerJobOptions& options, const EnclosingJob& enclosing);

// That one process, with the role that the environment gives it. REQUIRES: enclosing is a role.
Result<ServerJob> job_of_role(const ServerJobOptions& options, const TrainingProgram& program, const EnclosingJob& enclosing);

}  // namespace argosy::launch
