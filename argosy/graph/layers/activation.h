#pragma once

#include <optional>
#include <string>

#include "argosy/graph/layers/types.h"

// Functions of elements that are more than one operator; the others are in argosy/engine/ops/layers.h, made from the operators'
// entries. They add to the default main program and throw argosy::Error. Confined to the building thread.
namespace argosy::layers {

// softmax, then log, as fluid.layers writes it. `dtype` converts the input first.
Variable log_softmax(const Variable& input, int32_t axis = -1, std::optional<DType> dtype = std::nullopt,
                     const std::string& name = "");

}  // namespace argosy::layers
