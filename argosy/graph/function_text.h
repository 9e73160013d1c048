#pragma once

#include <string>

#include "argosy/graph/op_schema.h"

// What is written of functions: Python's documentation, stubs, the reference page and C++ declarations, all from their schemas.
namespace argosy::graph {

// "relu6(x, threshold=6.0, name=None)\n--\n\n" and the documentation with the arguments and an example: what Python shows and
// inspect.signature reads.
std::string python_doc(const FunctionSchema& function);

// The stub of a module's functions (.pyi), the page of the reference for them, and argosy/engine/ops/layers.h, the functions of
// fluid.layers for C++.
std::string python_stub(const std::vector<OpSchemas::Function>& functions);
std::string reference_page(const std::vector<OpSchemas::Function>& functions);
std::string cpp_header(const std::vector<OpSchemas::Function>& functions);

}  // namespace argosy::graph
