#pragma once

#include <cstddef>
#include <string_view>

#include "argosy/base/status.h"
#include "argosy/optim/rule.h"

namespace argosy::table {

// Where a rule's state is kept: among a table's scalars, or among the element states of each row or block.
struct StatePlace {
  bool scalar = false;
  size_t index = 0;
};

// The place of state number `state` of optim::Rule::states(). `rule` is null for a geo table, which has none.
Result<StatePlace> find_state(const optim::Rule* rule, size_t state, std::string_view table);

}  // namespace argosy::table
