#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "argosy/graph/backward.h"
#include "argosy/graph/variable.h"
#include "argosy/optim/optimizer.h"

namespace argosy::graph {

inline constexpr const char* kStepCounter = "@LR_DECAY_COUNTER@";

struct MinimizeOptions {
  std::shared_ptr<Program> startup_program;  // the default one where null
  std::vector<std::string> parameter_list;   // by name; all trainable ones where empty
  std::set<std::string> no_grad_set;
  std::vector<std::string> checkpoints;  // by name: what lies between them is computed again in the backward; see append_backward
  Variable learning_rate;  // an existing variable instead of the optimizer's rate
};

struct MinimizeResult {
  std::vector<ParamGrad> params_grads;
  Variable learning_rate;  // the variable that the operators read
};

// Appends to the loss's program what trains it: the backward operator, clipping, weight decay, and one operator of the
// optimizer's rule for each parameter, with its state variables; their first values go to the startup program. Throws Error.
MinimizeResult minimize(const optim::Optimizer& optimizer, const Variable& loss, const MinimizeOptions& options = {});

// The second half of it, for gradients that were changed in between; a pair without a gradient is left out.
MinimizeResult apply_gradients(const optim::Optimizer& optimizer, std::vector<ParamGrad> params_grads,
                               const MinimizeOptions& options = {});

// The rate of a schedule as a variable of the default main program; every run of it is a step.
Variable learning_rate_variable(const optim::Schedule& schedule);

// The counter behind schedules: 0 in the first run, then one more each run.
Variable step_counter();

}  // namespace argosy::graph
