#pragma once

#include <filesystem>
#include <optional>

#include "argosy/base/status.h"
#include "argosy/inspect/difference.h"
#include "argosy/table/snapshot.h"

namespace argosy::inspect {

// The snapshot at `path`: the folder of one, whole or with the part of one server alone, as a server's own are (kept/server-0/
// snapshots/snapshot-3); or the folder of a part (…/server-0-of-2). Nothing where the path is none of them; `data_loss` where it
// is and something of it is missing or damaged.
Result<std::optional<table::Snapshot>> find_snapshot(const std::filesystem::path& path);

// What differs between the tables of two snapshots: dense elements, and rows by their keys, with all that is kept of a row. How
// many servers wrote each does not count. Nothing where neither path is a snapshot; one alone is an error.
Result<std::optional<Difference>> compare_snapshots(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace argosy::inspect
