#pragma once

#include "argosy/base/status.h"
#include "argosy/engine/remote/context.h"
#include "argosy/engine/remote/peers.h"
#include "argosy/fleet/collective_job.h"
#include "argosy/graph/program.h"

namespace argosy::fleet {

// How the processes of a job train one program.
struct SharingOptions {
  engine::AverageOptions average;
  int merge_steps = 1;        // gradients of so many steps make one update
  bool merge_average = true;  // of their mean; of their sum otherwise
  int local_steps = 0;        // above 0: each process trains a copy, and after so many steps they become their mean
  int local_begin = 1;        // until this step after every one
  bool sync_batch_norm = false;  // batches are normalized over all processes
};

// Makes a program that minimize() has completed one of a collective job: right after the backward pass, before anything is
// clipped or updated, the gradients become their mean over all processes of `job`, and `startup` ends with the first process's
// values. Both are changed in place, once, and are run with `context`, whose peers are the job's from now on. Waits for nobody:
// the processes meet when the startup program runs. REQUIRES: the job outlives the context.
//
// With merge_steps, what uses the gradients becomes the block of a condition that holds in every merge_steps-th step. With
// local_steps gradients stay as they are, and the program ends with the operator that makes the copies one.
Status share_gradients(graph::Program& main, graph::Program& startup, engine::Context& context, CollectiveJob& job,
                       const SharingOptions& options = {});

}  // namespace argosy::fleet
