#pragma once

#include <string>

#include "argosy/graph/program.h"

namespace argosy::graph {

// Text for people, in the form in which Paddle 1.8 prints programs: that of protobuf's text format. Program::to_string() prints
// a whole program.
std::string to_string(const VarDesc& variable);
std::string to_string(const OpDesc& op);
std::string to_string(const Block& block);

}  // namespace argosy::graph
