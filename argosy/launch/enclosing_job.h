#pragma once

#include <string>

#include "argosy/base/status.h"
#include "argosy/launch/job.h"
#include "argosy/launch/program.h"

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
  std::string who;      // "task 0 of 2 of a Slurm step", "TRAINING_ROLE='PSERVER' and PADDLE_PSERVERS_IP_PORT_LIST='…'"
  std::string process;  // of a role: "server 1"
};

// An error where the variables are of a job but do not say which part of it.
Result<EnclosingJob> enclosing_job();

// Whether a job with parameter servers as `options` describe it may start in `enclosing`: one that would start as often as there
// are launchers, or beside the job that it is in, is refused, with what to do instead. Where it is the pod of one process,
// options that say nothing about servers and workers join it.
Status check_may_start(const JobOptions& options, const EnclosingJob& enclosing);

// That one process, with the role that the environment gives it. REQUIRES: enclosing is a role.
Result<Job> job_of_role(const JobOptions& options, const Program& program, const EnclosingJob& enclosing);

}  // namespace argosy::launch
