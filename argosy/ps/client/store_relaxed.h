#pragma once

#include <atomic>
#include <span>

namespace argosy::ps {

// Trainer threads may read the same floats meanwhile.
inline void store_relaxed(std::span<const float> from, float* to) {
  for (size_t i = 0; i < from.size(); ++i) std::atomic_ref<float>(to[i]).store(from[i], std::memory_order_relaxed);
}

}  // namespace argosy::ps
