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
  enum class Part { ps, collective, both, setting };

  std::vector<std::string> names;
  Part part;
  std::string argument, help;
  std::function<Status(CommandLine&, const std::string&)> set;
};

// As PaddlePaddle's document spells --selected_gpus: taken, and not shown.
inline constexpr const char* kMisspelt = "--seletected_gpus";

// All of them, in the order of the help: those of one kind together, settings last.
const std::vector<Flag>& all_flags();

// By its first name. REQUIRES: there is such an option.
const Flag& flag_named(const std::string& name);

}  // namespace argosy::launch
