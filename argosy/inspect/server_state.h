#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "argosy/base/status.h"
#include "argosy/inspect/difference.h"

namespace argosy::inspect {

// A snapshot, a folder of snapshots, a server's directory or a job's: what it holds, as text. Nothing where the path is none of
// them.
Result<std::optional<std::string>> server_state_text(const std::filesystem::path& path);

// Two snapshots (snapshots.h). Nothing where neither path is one, nor a directory with some, which is an error that says what to
// name.
Result<std::optional<Difference>> compare_server_states(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace argosy::inspect
