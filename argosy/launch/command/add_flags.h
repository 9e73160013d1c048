#pragma once

#include "argosy/launch/command/command_options.h"

namespace CLI {
class App;
}

namespace argosy::launch {

// Declares the options of flags.h to CLI11, in groups. What is given is set in `line`, in the order of the words; options of both
// kinds of jobs in one line are an error. `line` must outlive `app`.
void add_flags(CLI::App& app, CommandLine& line);

}  // namespace argosy::launch
