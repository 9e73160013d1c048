#pragma once

#include <filesystem>

#include "argosy/base/clock.h"
#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy {

// The right to make temporaries in a folder, to put them into their places, and to take them for abandoned: one thread of one
// process of this machine has it at a time, until it closes the result. Nobody has it while data is written. Where the file
// system has no locks the result is not open, and nobody waits. An error says that the wait ended, at
// `deadline` or by Ctrl-C.
Result<Fd> lock_folder(const std::filesystem::path& folder, const Deadline& deadline);

}  // namespace argosy
