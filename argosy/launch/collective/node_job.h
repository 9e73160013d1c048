#pragma once

#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/launch/collective/devices.h"
#include "argosy/launch/collective/launcher_message.h"
#include "argosy/launch/process/job_process.h"
#include "argosy/launch/process/training_program.h"

namespace argosy::launch {

// One start of all processes of a collective job, as the meeting place tells it to this node. A plain value.
struct Round {
  int number = 1;
  int node = 0;     // this one's, among `nodes`
  int restart = 0;  // how often the group was started before
  std::string resume;                           // the checkpoint to go on from
  std::string token;                            // of the run; empty: the processes have one, or need none
  std::vector<std::vector<std::string>> nodes;  // the endpoints of each node's processes, in the order of ranks

  static Result<Round> from(const LauncherMessage& start);
  std::vector<std::string> endpoints() const;  // of all
};

// This node's part of a collective job: what is the same in every round. A plain value.
struct NodeJob {
  TrainingProgram program;
  Devices devices;
  std::string log_dir = "log";
  int max_restarts = 0;
  std::string checkpoint_note = "last_checkpoint";  // a file in log_dir

  // This node's processes, with the variables of launch/collective/node_job.cc's table: PaddlePaddle's and torchrun's,
  // both. Where they meet (MASTER_ADDR, MASTER_PORT) is the endpoint of rank 0, which listens there itself. Variables that could
  // say something else are not handed down. REQUIRES: the round has an endpoint for each process of this node.
  std::vector<ProcessSpec> processes(const Round& round) const;

  // A process that can take the place of one of them (base/spare.h); `rank` is one.
  ProcessSpec spare(const ProcessSpec& rank) const;

  // Where rank 0 notes its checkpoints (base/resume.h) and where all endpoints are listed.
  std::string checkpoint_file() const { return log_dir + "/" + checkpoint_note; }
  std::string endpoints_file() const { return log_dir + "/endpoints.log"; }
};

// What a user sees at the start: the box with the variables of a process that PaddlePaddle's launcher shows.
std::string environment_box(const ProcessSpec& process);

}  // namespace argosy::launch
