#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace argosy::ps {

// Counts of staleness are kept by these bounds: a value is counted at the first that is not below it, or behind the last.
inline constexpr std::array<uint64_t, 9> kStalenessBounds = {0, 1, 2, 4, 8, 16, 32, 64, 128};
inline constexpr size_t kStalenessCounts = kStalenessBounds.size() + 1;

}  // namespace argosy::ps
