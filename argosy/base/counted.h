#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace argosy {

// A number with its noun, for messages: "1 worker", "2 workers", "1,234 passes". `several` is `one` with an s where it is not
// given.
std::string counted_noun(int64_t number, std::string_view one, std::string_view several);

template <std::integral Number>
std::string counted(Number number, std::string_view one, std::string_view several = {}) {
  return counted_noun(static_cast<int64_t>(number), one, several);
}

}  // namespace argosy
