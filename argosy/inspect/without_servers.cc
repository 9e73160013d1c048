// A build without servers has no snapshots to look at.
#include "argosy/inspect/server_state.h"

namespace argosy::inspect {

Result<std::optional<std::string>> server_state_text(const std::filesystem::path&) { return std::optional<std::string>(); }

Result<std::optional<Difference>> compare_server_states(const std::filesystem::path&, const std::filesystem::path&) {
  return std::optional<Difference>();
}

}  // namespace argosy::inspect
