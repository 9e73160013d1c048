#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "argosy/base/disk_file.h"
#include "argosy/base/status.h"

// The files of a log, read.
namespace argosy::table {

// One file of a log. A byte's position in the log is its place in the file plus `first`.
struct LogSegment {
  std::filesystem::path path;
  uint64_t first = 0;
  uint64_t size = 0;

  uint64_t end() const { return first + size; }
};

std::filesystem::path segment_path(const std::filesystem::path& folder, uint64_t first);

// The segments of a folder in order. One that is missing between two others is `data_loss` and named.
Result<std::vector<LogSegment>> list_segments(const std::filesystem::path& folder);

// Nothing of the log can have been lost by a power cut.
inline constexpr uint64_t kAllSynced = ~uint64_t{0};

// How many bytes of the last segment are whole records. What is behind them was being written when the process ended. It
// is `data_loss` instead where a later record tells that the bytes were complete once. A file that ends inside its own
// header has 0 good bytes. After a power cut the system may have written later pages and lost earlier ones: bytes from
// position `synced` on count up to the first record that is not whole, whatever comes behind it.
Result<uint64_t> find_good_size(const LogSegment& segment, uint64_t synced = kAllSynced);

// `record` is valid during the call only, and lies at a multiple of 8 in memory. An error ends the replay.
using LogVisitor = std::function<Status(uint64_t position, Bytes record)>;

// Shows the records at position `from` and after to the visitor. REQUIRES: `from` is the segment's first or a record's.
Status replay_segment(const LogSegment& segment, uint64_t from, const LogVisitor& visitor);

}  // namespace argosy::table
