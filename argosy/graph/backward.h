#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "argosy/graph/variable.h"

namespace argosy::graph {

inline constexpr std::string_view kBackwardOp = "backward";
std::string gradient_name(std::string_view variable);  // "w" -> "w@GRAD"

struct ParamGrad {
  Variable param, grad;
};

// Adds the operator that differentiates `loss` with respect to the trainable parameters that reach it (or to
// `parameter_list`, by name), and a variable param@GRAD for each. One operator: the engine's autograd does the rest.
// Nothing flows through variables of `no_grad_set` or those with stop_gradient. Throws argosy::Error.
//
// `checkpoints`: variables between which the forward keeps nothing; the backward computes it once more, with the same numbers.
std::vector<ParamGrad> append_backward(const Variable& loss, const std::vector<std::string>& parameter_list = {},
                                       const std::set<std::string>& no_grad_set = {},
                                       const std::vector<std::string>& checkpoints = {});

// The gradients of the sum of `targets` (weighted by `target_gradients` where given) with respect to `inputs`; an empty
// Variable where a target does not depend on an input.
//
// Here as in append_backward, the gradient of x is x@GRAD, and that of another call on the same x is x@GRAD_0, x@GRAD_1, …
std::vector<Variable> gradients(const std::vector<Variable>& targets, const std::vector<Variable>& inputs,
                                const std::vector<Variable>& target_gradients = {},
                                const std::set<std::string>& no_grad_set = {});

}  // namespace argosy::graph
