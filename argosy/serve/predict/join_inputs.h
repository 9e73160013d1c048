#pragma once

#include <span>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/serve/predict/predictor.h"

namespace argosy::serve {

// Whether the samples of both can stand in one batch: the same names, element types, sizes behind the first, levels of sequences.
bool can_join(const Inputs& one, const Inputs& other);

// One batch of all samples, in their order. REQUIRES: at least one, and each can_join() the first.
Inputs join(std::span<const Inputs* const> parts);

// The inverse, for outputs: what each part of `samples[i]` samples gets. An output that does not have one row, or one sequence,
// per sample cannot be divided: an error that names it.
Result<std::vector<std::vector<Tensor>>> split(const std::vector<TensorInfo>& infos, const std::vector<Tensor>& outputs,
                                               std::span<const int64_t> samples);

}  // namespace argosy::serve
