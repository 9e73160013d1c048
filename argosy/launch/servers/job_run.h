#pragma once

#include <string>

#include "argosy/base/fd.h"
#include "argosy/base/status.h"
#include "argosy/launch/servers/server_job.h"

// What makes a launch one run of its job, apart from all others on the machine: its id, its logs, and its servers' directory.
namespace argosy::launch {

// Gives every process the run's id (ARGOSY_RUN_ID) and that of this launch (ARGOSY_LAUNCH, internal: by it a server that is
// started again knows that it may go on with what it finds). The run's id is the one that the command line or the launcher's own
// environment names; else one is drawn, unless the job has processes on other machines, whose launchers would draw others: then
// server 0 draws it. Call it after check_directory().
void name_run(ServerJob& job);

// Looks into the directory that the servers will keep their state in, where the command line or the environment names it. A run
// that is found there is an error that says what it is, unless `on_old_state` says resume or fresh: then it is gone on with under
// its id where it had not finished, or moved aside. Directories that only the script names are the servers' own business.
Status check_directory(ServerJob& job);

// Keeps other launchers out of that directory for as long as the job lives, where all of its processes are here: also in moments
// in which no server runs. Call it before check_directory().
Status hold_directory(ServerJob& job);

// Holds the logs of one launch. Movable.
struct LogHold {
  std::vector<Fd> files;  // locked
};

// Keeps other launches from writing to the logs of the job's processes until the result is gone. Where another one does already,
// this one's go to a subfolder that is named after its run. Call it after name_run().
Result<LogHold> hold_logs(ServerJob& job);

}  // namespace argosy::launch
