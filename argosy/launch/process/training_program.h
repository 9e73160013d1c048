#pragma once

#include <map>
#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::launch {

// What every process of a job runs. A plain value.
struct TrainingProgram {
  std::vector<std::string> command;  // the script, or what kind says, and its arguments
  enum class Kind { script, module, executable } kind = Kind::script;
  std::string python = "python3";
  std::map<std::string, std::string> environment;  // more variables for every process

  // A setting of the job, by its variable: as a flag gave it, else as the launcher's own environment has it; empty: neither.
  std::string setting(const std::string& variable_name) const;
  // Whether there is something to run: a command, and the script where it is one.
  Status check() const;
  std::vector<std::string> argv() const;
};

}  // namespace argosy::launch
