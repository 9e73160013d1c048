#include "argosy/base/identity.h"

#include <random>

namespace argosy {

uint64_t draw_identity() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) | 1;
}

}  // namespace argosy
