#pragma once

#include <map>
#include <optional>
#include <string>

#include "argosy/launch/collective/run_collective.h"
#include "argosy/launch/command/host_file.h"
#include "argosy/launch/process/job_watch.h"
#include "argosy/launch/process/training_program.h"
#include "argosy/launch/servers/server_job.h"
#include "argosy/launch/servers/supervisor.h"

namespace argosy::launch {

// What a launcher's words say.
struct CommandLine {
  enum class Mode { unsaid, ps, collective } mode = Mode::unsaid;
  TrainingProgram program;
  ServerJobOptions job;                // of a parameter-server job
  SupervisorOptions supervisor;  // likewise
  CollectiveOptions collective;  // of a collective one
  JobWatchOptions watch;            // of both
  std::optional<HostFile> hosts;    // --hostfile, whose machines are also those of `job` and `collective`
  std::string text;  // what the user wants to see instead of a job: the help, the version, the table of settings; empty: nothing
  bool print_config = true;  // of a collective job
  bool dump_config = false;  // show the job as a job file instead of running it
  std::string to_kubernetes;  // the kind of manifest to show instead; empty: none
  std::map<std::string, std::string> kubernetes;  // a job file's section of that name
  std::map<std::string, std::string> given;  // the flags that were given, by name without dashes, as text
};

}  // namespace argosy::launch
