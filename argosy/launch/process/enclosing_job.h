#pragma once

#include <string>

#include "argosy/base/status.h"

namespace argosy::launch {

// The job that somebody else has put this launcher into, as the environment says. A launcher that ignored it would start a job of
// its own in each of them. A plain value.
struct EnclosingJob {
  enum class Kind {
    none,
    launchers,  // mpirun, srun, torchrun or an operator started several launchers
    role,       // the pod of one process of a job with parameter servers: TRAINING_ROLE and the list of servers
  } kind = Kind::none;
  int launchers = 1, on_this_machine = 1;
  int launcher = 0;      // this one's number
  bool is_step = false;  // srun has started them, as tasks of a step
  std::string who;      // "task 0 of 2 of a Slurm step", "TRAINING_ROLE='PSERVER' and PADDLE_PSERVERS_IP_PORT_LIST='…'"
  std::string process;  // of a role: "server 1"
};

// What a user who wants a job of their own all the same is told.
inline constexpr const char* kOwnJob = "with --standalone it starts a job of its own all the same";

// An error where the variables are of a job but do not say which part of it.
Result<EnclosingJob> enclosing_job();

}  // namespace argosy::launch
