#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "argosy/base/status.h"

namespace argosy::inspect {

// A snapshot, a folder of snapshots, a server's directory or a job's: what it holds, as text. Nothing where the path is none of
// them.
Result<std::optional<std::string>> server_state_text(const std::filesystem::path& path);

}  // namespace argosy::inspect
