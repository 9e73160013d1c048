#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::ps {

// A piece of a server's log that keeps the server from starting.
struct LogProblem {
  std::filesystem::path file;
  uint64_t position = 0;
  uint64_t bytes = 0;
  std::string what;    // "PUSH of worker 1, batch 17 of round 0", or that it cannot be read
  std::string reason;
  std::filesystem::path moved_to;  // empty: it is still in the log
};

struct RepairReport {
  std::filesystem::path directory;  // of the server
  uint64_t records = 0;             // that were read and applied, in memory
  std::vector<LogProblem> problems;
  std::vector<std::string> notes;
};

// Reads what servers keep in `directory` (a server's own, or that of a job, with server-0, server-1, …) as they would when they
// start, and lists what they would stop at. With `set_aside` that is moved out of the log, into a file beside it, and the server
// starts without it; nothing is removed. Without, nothing is changed. A directory that a server is using is refused.
Result<std::vector<RepairReport>> repair(const std::filesystem::path& directory, bool set_aside);

}  // namespace argosy::ps
