#include "argosy/launch/process/slurm_step.h"

#include "argosy/base/env_variable.h"

namespace argosy::launch {
namespace {

std::string number(const char* name) {
  const auto said = variable(name);
  return said ? said->value : "0";
}

}  // namespace

std::optional<SlurmStep> slurm_step() {
  if (!variable("SLURM_STEP_NUM_TASKS")) return std::nullopt;  // a batch script has most others too
  return SlurmStep{.job = number("SLURM_JOB_ID"), .step = number("SLURM_STEP_ID"), .restarts = number("SLURM_RESTART_COUNT")};
}

}  // namespace argosy::launch
