#pragma once

#include <map>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/launch/job.h"
#include "argosy/launch/program.h"
#include "argosy/launch/run_collective.h"
#include "argosy/launch/supervisor.h"

namespace argosy::launch {

struct CommandLine {
  enum class Mode { unsaid, ps, collective } mode = Mode::unsaid;
  Program program;
  JobOptions job;                // of a parameter-server job
  SupervisorOptions supervisor;  // likewise
  CollectiveOptions collective;  // of a collective one
  bool help = false;
  bool settings = false;                     // print the table of settings
  std::map<std::string, std::string> given;  // the flags that were given, by name without dashes, as text
};

std::string launch_help();

// The options of fleetrun, paddle.distributed.launch_ps and paddle.distributed.launch, and those of torchrun: dashes or
// underscores, "--name value" or "--name=value", up to the first word that is not an option: the script, whose own arguments
// follow. Every setting of base/settings.h is an option too, and becomes its variable in all processes. torchrun's PET_*
// variables stand for the options that they are named after. An unknown option is an error that offers the nearest; so are
// options of both kinds of job at once.
//
// Where no option says which kind of job it is: collective where a scheduler started several launchers or a GPU is seen,
// otherwise one with parameter servers.
Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

// What PaddlePaddle's launcher shows first of a collective job: the options with their values.
std::string configuration_text(const CommandLine& line);

}  // namespace argosy::launch
