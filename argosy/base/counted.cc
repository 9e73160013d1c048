#include "argosy/base/counted.h"

#include <fmt/core.h>

#include "argosy/base/text.h"

namespace argosy {

std::string counted_noun(int64_t number, std::string_view one, std::string_view several) {
  if (number == 1) return fmt::format("1 {}", one);
  return fmt::format("{} {}{}", with_thousands(number), several.empty() ? one : several, several.empty() ? "s" : "");
}

}  // namespace argosy
