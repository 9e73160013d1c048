#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "argosy/engine/program/frame.h"

namespace argosy::engine {

// Elements of a table from which on a dense gradient is not worth its memory: the rows of a batch are a small part of it.
inline constexpr int64_t kLargeTable = 1 << 18;

// Whether the dense gradient of `table`, value `index` of the program, is kept as the rows that a batch has looked up
// (LookupGradient::dense): where nobody but its update sees it, on the CPU, and the table is large.
bool is_summed_by_rows(const Frame& frame, int32_t index, const at::Tensor& table);

}  // namespace argosy::engine
