#include "argosy/table/rule_states.h"

namespace argosy::table {

Result<StatePlace> find_state(const optim::Rule* rule, size_t state, std::string_view table) {
  const size_t known = rule == nullptr ? 0 : rule->states().size();
  if (state >= known) return Status::invalid_argument("table '{}': there is no state {}; its rule has {}", table, state, known);
  StatePlace place{.scalar = rule->states()[state].shape == optim::StateSlot::scalar};
  for (size_t i = 0; i < state; ++i) {
    if ((rule->states()[i].shape == optim::StateSlot::scalar) == place.scalar) ++place.index;
  }
  return place;
}

}  // namespace argosy::table
