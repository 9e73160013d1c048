#pragma once

#include <cstdint>

#include "argosy/base/status.h"
#include "argosy/serve/predict/predictor.h"

namespace argosy::serve {

// `samples` random samples that a model can be asked about, the same for the same seed: numbers between -1 and 1, integers below
// the height of the table that they are looked up in (0 where none is found), sequences of 1 to 4 elements. Sizes of which the
// model says nothing but -1, besides the batch's, are 1. An element type that cannot be drawn is an error.
Result<Inputs> sample_inputs(const Predictor& predictor, int64_t samples, uint64_t seed);

}  // namespace argosy::serve
