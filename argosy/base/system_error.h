#pragma once

#include <filesystem>
#include <string_view>

#include "argosy/base/status.h"

namespace argosy {

// "<what> '<path>': <the system's reason>" for errno, with the code that goes with it: a full disk is `resource_exhausted`.
Status system_error(std::string_view what, const std::filesystem::path& path);

}  // namespace argosy
