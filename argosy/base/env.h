#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "argosy/base/status.h"

namespace argosy {

// Reads of the process environment. An absent variable is nullopt; a present one that does not parse is an error that
// names it, its text and what was expected. Thread-safe as long as nobody calls setenv.
std::optional<std::string> env_text(const char* name);
Result<std::optional<int64_t>> env_integer(const char* name);
Result<std::optional<double>> env_number(const char* name);
Result<std::optional<bool>> env_flag(const char* name);  // 1/0, true/false, yes/no, on/off

}  // namespace argosy
