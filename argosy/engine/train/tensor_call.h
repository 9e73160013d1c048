#pragma once

#include <ATen/core/Tensor.h>

#include <variant>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/graph/op_schema.h"

namespace argosy::engine {

// What a function's argument is given as by a caller that has tensors; empty: left out, or None.
using TensorArgument = std::variant<std::monostate, at::Tensor, std::vector<at::Tensor>, graph::Attribute>;

// Computes a function of the operators' table at once, with the kernel that programs run: what the dynamic graph calls. The
// results are in the order of FunctionSchema::returns; autograd records them where it is on and a tensor wants a gradient. An
// argument that does not fit is an error that names function and argument, or the operator and what it was given.
//
// What a call needs is made once for each kind of arguments (element types, shapes, numbers) and kept by the thread, up to some
// thousands. Making it builds a program: confined to the building thread.
Result<std::vector<at::Tensor>> call_on_tensors(const graph::OpSchemas::Function& function,
                                                const std::vector<TensorArgument>& arguments);

}  // namespace argosy::engine
