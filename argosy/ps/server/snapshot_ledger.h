#pragma once

#include <filesystem>
#include <string>

#include "argosy/base/status.h"

namespace argosy::ps {

// What the tables of a full snapshot were trained on, as JSON: the ledger of all its servers' states together. Empty: the folder
// is no full snapshot, or its servers had not seen a worker.
Result<std::string> snapshot_ledger(const std::filesystem::path& folder);

}  // namespace argosy::ps
