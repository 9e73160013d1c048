#pragma once

#include "argosy/base/env_variable.h"
#include "argosy/launch/command/command_options.h"
#include "argosy/launch/command/flag.h"

namespace CLI {
class App;
}

namespace argosy::launch {

// Sets in `line` what an option says, or the variable that stands for it where it is not given. Errors name the one or the other.
Status set_flag(const Flag& flag, const std::string& value, CommandLine& line);
Status set_flag(const Flag& flag, const EnvVariable& said, CommandLine& line);

// Declares the options of flags.h to CLI11, in groups. What is given is set in `line`, in the order of the words; options of both
// kinds of jobs in one line are an error. `line` must outlive `app`.
void add_flags(CLI::App& app, CommandLine& line);

}  // namespace argosy::launch
