#pragma once

#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/launch/job.h"
#include "argosy/launch/supervisor.h"

namespace argosy::launch {

struct CommandLine {
  JobOptions job;
  SupervisorOptions supervisor;
  std::string mode;      // "ps"
  bool help = false;
  bool settings = false;  // print the table of settings
};

std::string launch_help();

// The options of fleetrun, paddle.distributed.launch_ps and paddle.distributed.launch: dashes or underscores, "--name value" or
// "--name=value", up to the first word that is not an option: the script, whose own arguments follow. Every setting of
// base/settings.h is an option too, and becomes its variable in all processes. An unknown option is an error that offers the
// nearest.
Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace argosy::launch
