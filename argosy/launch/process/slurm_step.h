#pragma once

#include <optional>
#include <string>

namespace argosy::launch {

// The step of a Slurm job that this launcher is a task of, as Slurm's variables say. A plain value.
struct SlurmStep {
  std::string job = "0", step = "0";
  std::string restarts = "0";  // how often Slurm has started the job again (requeue); its steps then have the same numbers

  bool requeued() const { return restarts != "0"; }
};

// None: srun has not started this process.
std::optional<SlurmStep> slurm_step();

}  // namespace argosy::launch
