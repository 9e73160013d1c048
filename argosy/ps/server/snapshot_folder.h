#pragma once

#include <filesystem>

namespace argosy::ps {

// Whether a folder has what servers wrote as a snapshot.
bool is_snapshot(const std::filesystem::path& folder);

}  // namespace argosy::ps
