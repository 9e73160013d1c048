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
  bool help = false;
};

std::string launch_help();

// The options of fleetrun, paddle.distributed.launch_ps and paddle.distributed.launch: dashes or underscores, "--name value" or
// "--name=value", up to the first word that is not an option: the script, whose own arguments follow. An unknown option is an
// error that offers the nearest.
Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace argosy::launch
