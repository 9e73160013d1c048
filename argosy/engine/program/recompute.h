#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/engine/program/instruction.h"

namespace argosy::engine {

// The operator that a segment becomes; engine/ops/recompute.cc runs it.
inline constexpr std::string_view kSegmentOp = "recompute_segment";

// Memory for time. Puts the instructions up to each of `checkpoints` into one, a segment, of which the run keeps what it reads
// ("X") and what others read of it ("Kept"): the backward computes the rest once more. What must not be done twice stays outside,
// and divides segments: operators that look up rows of a sparse table, run a block, write where something was before, or set a
// variable that outlives the run; the running statistics of batch_norm are left alone the second time. What follows the last
// checkpoint is kept as ever.
//
// Returns how many states were added, numbered from `next_state` on. REQUIRES: gradients are marked, last uses are not.
int32_t make_segments(std::vector<Instruction>& instructions, const std::vector<ValueInfo>& values,
                      const std::vector<std::string>& checkpoints, int32_t next_state);

}  // namespace argosy::engine
