#pragma once

#include <cstddef>
#include <vector>

#include "argosy/optim/rule.h"

namespace argosy::optim {

// What the element states of `rule` hold before the first step, for a parameter or a row of n elements: n numbers of each state,
// one state after the other in the order of Rule::states(). Rule::initial_scalars() has the other states.
std::vector<float> initial_element_states(const Rule& rule, size_t n);

}  // namespace argosy::optim
