#include "argosy/collective/gradient_type.h"

namespace argosy::collective {

Result<GradientType> parse_gradient_type(const std::string& name) {
  if (name.empty()) return GradientType::own;
  if (name == "float16") return GradientType::float16;
  if (name == "bfloat16") return GradientType::bfloat16;
  return Status::invalid_argument("found the type '{}' for gradients on their way, expected float16, bfloat16 or none", name);
}

}  // namespace argosy::collective
