#pragma once

#include <string_view>

namespace argosy::ps {

// How workers and servers keep in step; docs/parameter_servers.md says what each means for a model.
enum class Mode { sync, half_async, async, geo };

std::string_view mode_name(Mode mode);

}  // namespace argosy::ps
