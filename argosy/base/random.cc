#include "argosy/base/random.h"

#include <cmath>
#include <numbers>

namespace argosy {

// Box and Muller's transform, one of the pair: two draws a value, and no hidden state.
double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace argosy
