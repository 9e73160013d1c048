#pragma once

#include <optional>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/launch/collective/nodes.h"
#include "argosy/launch/process/job_watch.h"
#include "argosy/launch/process/training_program.h"

namespace argosy::launch {

// A collective job, as the command line describes it.
struct CollectiveOptions {
  NodeOptions nodes;
  std::vector<std::string> gpus;  // --gpus
  std::string processes;          // --nproc_per_node
  std::string log_dir = "log";
  int max_restarts = 0;
  int follow = 0;             // the number, on this node, of the process whose log is shown
  double join_seconds = 600;  // how long nodes are waited for
  double last_call_seconds = 2;
  JobWatchOptions watch;
};

// Runs this node's part of the job to its end; the result is the job's exit code. An error is one of the command line, the
// environment or the network before anything was started.
Result<int> run_collective(const CollectiveOptions& options, const TrainingProgram& program);

}  // namespace argosy::launch
