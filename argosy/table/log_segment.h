#pragma once

#include <filesystem>
#include <functional>
#include <string>
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

// One piece of a segment: a whole record, or bytes that are none, up to the next header that is good.
struct LogPiece {
  uint64_t offset = 0;  // in the file
  uint64_t size = 0;    // a multiple of 8
  uint64_t batch = 0;   // of the record's header; the piece's own position where it has none
  Bytes payload;        // of a whole record; as in LogVisitor
  std::string problem;  // why it is none; empty: a whole record
};

// Shows everything of a segment from position `from` on, also what replay_segment() stops at. For repair.
Status scan_segment(const LogSegment& segment, uint64_t from, const std::function<Status(const LogPiece&)>& visitor);

}  // namespace argosy::table
