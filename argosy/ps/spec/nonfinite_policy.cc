#include "argosy/ps/spec/nonfinite_policy.h"

#include <cstddef>

namespace argosy::ps {

std::string_view nonfinite_name(Nonfinite policy) {
  constexpr std::string_view names[] = {"refuse", "skip", "clip"};
  return names[static_cast<size_t>(policy)];
}

std::string_view nonfinite_outcome(Nonfinite policy) {
  constexpr std::string_view outcomes[] = {"refused", "left out", "replaced"};
  return outcomes[static_cast<size_t>(policy)];
}

}  // namespace argosy::ps
