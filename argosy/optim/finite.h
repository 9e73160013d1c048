#pragma once

#include <span>

namespace argosy::optim {

// Whether no number is NaN or infinite. One pass at the speed of memory, for code that checks every gradient.
bool all_finite(std::span<const float> numbers);

}  // namespace argosy::optim
