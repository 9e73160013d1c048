#pragma once

#include <string>
#include <vector>

#include "argosy/engine/remote/peers.h"
#include "argosy/graph/op_desc.h"
#include "argosy/graph/program.h"

namespace argosy::fleet {

// Steps of a program of a collective job that end differently from others. Both change programs that minimize() has completed,
// and throw argosy::Error.

struct MergeOptions {
  int steps;
  bool average;  // one update of the mean of so many gradients; of their sum otherwise
};
// Adds `gradients` up behind the backward operator at `backward`, in variables that outlive a run and that `startup` sets to 0.
// What follows, `first` and then all that clips, decays and updates, runs in every steps-th run only. Gradients of rows become
// dense ones.
void merge_steps(graph::Program& main, graph::Program& startup, size_t backward, const std::vector<std::string>& gradients,
                 const MergeOptions& options, graph::OpDesc first);

struct CopyOptions {
  int steps, begin;
};
// Ends the program with the operator that makes the processes' parameters their mean.
void average_copies(graph::Program& main, graph::Program& startup, const CopyOptions& options,
                    const engine::AverageOptions& average);

}  // namespace argosy::fleet
