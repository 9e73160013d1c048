#pragma once

#include <functional>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/launch/command/command_options.h"

namespace argosy::launch {

// An option of the launcher: its names (the first is the one in messages), what kind of job it belongs to, its argument for
// the help (empty: a switch), the help, and what it sets.
struct Flag {
  enum class Part { ps, collective, both, refused, setting };

  std::vector<std::string> names;
  Part part;
  std::string argument, help;
  std::function<Status(CommandLine&, const std::string&)> set;
};

}  // namespace argosy::launch
