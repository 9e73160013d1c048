#pragma once

#include <functional>
#include <string>
#include <vector>

#include "argosy/launch/command_line.h"

namespace argosy::launch {

// An option of the launcher: its names (the first is shown), what kind of job it belongs to, its argument for the help (empty: a
// switch), the help, and what it sets.
struct Flag {
  enum class Part { ps, collective, both, setting };

  std::vector<std::string> names;
  Part part;
  std::string argument, help;
  std::function<Status(CommandLine&, const std::string&)> set;
};

// All of them, in the order of the help: those of one kind together, settings last.
const std::vector<Flag>& all_flags();

// By name; one that there is not is an error that offers the nearest.
Result<const Flag*> find_flag(const std::string& name);

}  // namespace argosy::launch
