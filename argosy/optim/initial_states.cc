#include "argosy/optim/initial_states.h"

namespace argosy::optim {

std::vector<float> initial_element_states(const Rule& rule, size_t n) {
  std::vector<float> states;
  states.reserve(rule.element_states() * n);
  for (const StateSlot& slot : rule.states()) {
    if (slot.shape == StateSlot::element) states.insert(states.end(), n, slot.initial);
  }
  return states;
}

}  // namespace argosy::optim
