#pragma once

#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/launch/command/command_options.h"

namespace argosy::launch {

std::string launch_help();

// The options of fleetrun, paddle.distributed.launch_ps and paddle.distributed.launch, and those of torchrun, written as
// cli/program_arguments.h takes them, up to the first word that is not an option: the script, whose own arguments follow. Every
// setting of base/settings.h is an option too, and becomes its variable in all processes. torchrun's PET_* variables stand for
// the options that they are named after. Options of both kinds of job at once are an error.
//
// Where no option says which kind of job it is: collective where a scheduler started several launchers or a GPU is seen,
// otherwise one with parameter servers.
Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

// What PaddlePaddle's launcher shows first of a collective job: the options with their values.
std::string configuration_text(const CommandLine& line);

}  // namespace argosy::launch
