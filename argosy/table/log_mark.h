#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "argosy/base/status.h"

namespace argosy::table {

// How much of a log is known to be on the disk, kept in a file of its own beside it. It is written after the log was synced, so
// what it says is never too much; it is not synced itself, so it may say too little.
struct LogMark {
  uint64_t synced = 0;  // everything below this position is on the disk
  double seconds = 0;   // between two syncs
  std::string boot;     // of the machine that wrote it: another one now means that what was not synced may be lost
};

// Nothing where there is no mark: a log whose writer synced every record, or none. A mark that cannot be read says that
// nothing is known to be on the disk.
std::optional<LogMark> read_mark(const std::filesystem::path& folder);
Status write_mark(const std::filesystem::path& folder, const LogMark& mark);
void remove_mark(const std::filesystem::path& folder);

// The system's name for the time since the machine was started; the same for all its processes and containers.
std::string boot_id();

}  // namespace argosy::table
