#pragma once

#include "argosy/base/status.h"
#include "argosy/launch/process/enclosing_job.h"
#include "argosy/launch/process/training_program.h"
#include "argosy/launch/servers/server_job.h"

// A job with parameter servers whose processes are the tasks of one srun step: the first --server_num tasks are its servers, the
// others its workers. A heterogeneous step's tasks are numbered through, so that servers can have other resources. Servers are
// known by names (base/endpoint_name.h), which are files of the folder of logs: all nodes of a step see that, and a step that is
// requeued on other nodes finds its servers again.
namespace argosy::launch {

// Whether the launcher is one task of such a step: srun has started several, and `options` say how many servers or workers there
// are, and no lists of them.
bool is_task_of_step(const ServerJobOptions& options, const EnclosingJob& enclosing);

// The one process that this task is. The tasks have a token of their own (ARGOSY_TOKEN) unless one is given. In a job that Slurm
// has requeued the servers go on with what their directory holds, unless --fresh or --resume says what to do. An error where
// servers and workers are not as many as tasks. REQUIRES: is_task_of_step().
Result<ServerJob> job_of_task(const ServerJobOptions& options, const TrainingProgram& program, const EnclosingJob& enclosing);

}  // namespace argosy::launch
