#pragma once

#include <filesystem>
#include <optional>

#include "argosy/base/status.h"

namespace argosy::ps {

// Deals the state of a run, which lies in server-0, server-1, … of a job's directory, out to another number of servers. The old
// folders become server-N.before-<run>. A run that has not finished is gone on with where it was, if all its servers hold the
// same batches, as they do when its workers were ended before them; else it is an error that says so, and nothing is changed.
// `workers`: of the next run, where it is another number than that of this one, which must have finished; none: as many.
//
// REQUIRES: no server runs on the directory; that is checked. Needs the memory of one server, old or new, at a time.
Status reshard(const std::filesystem::path& directory, int servers, std::optional<int> workers = {});

}  // namespace argosy::ps
