#pragma once

#include <string>

#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/value.h"

namespace argosy::engine {

// A variable's value after a step as it is now, which later steps do not change.
Value copy_of(Frame& frame, const std::string& name);
Value on_cpu(Value value);

// For people: a number, or the first ten of several.
std::string value_text(const Value& value);

}  // namespace argosy::engine
