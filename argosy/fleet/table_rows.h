#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::fleet {

// Of a whole table on its way to or from a file, so many rows are in one call.
inline constexpr size_t kRowsAtOnce = 65536;

// Calls `work` with the keys 0 … rows - 1, some at a time, and each time with the first of them.
template <typename Work>
Status for_all_rows(size_t rows, Work work) {
  std::vector<uint64_t> keys;
  for (size_t begin = 0; begin < rows; begin += keys.size()) {
    keys.resize(std::min(kRowsAtOnce, rows - begin));
    std::iota(keys.begin(), keys.end(), begin);
    RETURN_IF_ERROR(work(std::span<const uint64_t>(keys), begin));
  }
  return {};
}

}  // namespace argosy::fleet
