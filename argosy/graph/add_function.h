#pragma once

#include "argosy/graph/op_schema.h"

namespace argosy::graph {

// Gives an operator of the registry a function, and settles what its arguments are. An argument finds, in this order: its target;
// `name` and `act`; the input slot, the attribute or the output slot of its name (slots without regard to case). REQUIRES: `op`
// is complete; anything that does not fit aborts, because the entry is ours.
void add_function(OpSchema& op, FunctionSchema function);

}  // namespace argosy::graph
