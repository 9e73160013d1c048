#include "argosy/ps/spec/nonfinite_policy.h"

#include <cstddef>

#include "argosy/base/check.h"

namespace argosy::ps {

std::string_view nonfinite_name(Nonfinite policy) {
  constexpr std::string_view names[] = {"refuse", "skip", "clip"};
  return names[static_cast<size_t>(policy)];
}

Nonfinite nonfinite_named(std::string_view name) {
  for (const Nonfinite policy : {Nonfinite::refuse, Nonfinite::skip, Nonfinite::clip}) {
    if (name == nonfinite_name(policy)) return policy;
  }
  ARGOSY_CHECK(false, "no policy for gradients that are not finite has this name");
}

std::string_view nonfinite_outcome(Nonfinite policy) {
  constexpr std::string_view outcomes[] = {"refused", "left out", "replaced"};
  return outcomes[static_cast<size_t>(policy)];
}

}  // namespace argosy::ps
