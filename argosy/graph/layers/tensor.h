#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/graph/layers/types.h"

// Layer functions that convert, describe, order and index variables, with the names, operators and shapes of fluid.layers.
// They add to the default main program and throw argosy::Error. Confined to the building thread.
namespace argosy::layers {

Variable where(const Variable& condition);                                        // the positions of true elements
Variable where(const Variable& condition, const Variable& x, const Variable& y);  // x where true, y elsewhere

}  // namespace argosy::layers
