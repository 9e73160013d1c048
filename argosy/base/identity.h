#pragma once

#include <cstdint>

namespace argosy {

// A number that no other process, run or operation has: 64 random bits of the system, never 0. Thread-safe.
uint64_t draw_identity();

}  // namespace argosy
