#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "argosy/base/status.h"

namespace argosy::ps {

// The error of a call that waits for workers that are lost. `workers` describes them: "worker 1 (host:4711), which ended with
// status 1".
Status lost_error(std::string_view workers);

// The first worker that such an error names, "worker 1", whatever context was put before it; none where it is another error.
std::optional<std::string> lost_worker(const Status& status);

}  // namespace argosy::ps
