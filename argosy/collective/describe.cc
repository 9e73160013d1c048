#include "argosy/collective/describe.h"

#include <fmt/ranges.h>

namespace argosy::collective {

std::string describe(const at::Tensor& tensor) {
  return fmt::format("{} [{}]{}", c10::toString(tensor.scalar_type()), fmt::join(tensor.sizes(), ", "),
                     tensor.is_sparse() ? " sparse" : "");
}

}  // namespace argosy::collective
