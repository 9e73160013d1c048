#include "argosy/base/identity.h"

#include <random>

namespace argosy {

uint64_t draw_identity() {
  std::random_device device;  // the system's, not a generator of this process
  for (;;) {
    if (const uint64_t drawn = uint64_t{device()} << 32 | device()) return drawn;
  }
}

}  // namespace argosy
