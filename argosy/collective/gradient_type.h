#pragma once

#include <string>

#include "argosy/base/status.h"

namespace argosy::collective {

// The type in which gradients travel. They are summed in it too, and come back in their own.
enum class GradientType { own, float16, bfloat16 };
Result<GradientType> parse_gradient_type(const std::string& name);  // "", "float16", "bfloat16"

}  // namespace argosy::collective
