#include "argosy/table/log_segment.h"

#include <algorithm>
#include <system_error>

#include "argosy/base/file.h"
#include "argosy/base/plant.h"
#include "argosy/base/text.h"
#include "argosy/table/checksum.h"
#include "argosy/table/log_format.h"

namespace argosy::table {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSegmentPrefix = "log-";
constexpr size_t kDigits = 20;
constexpr size_t kWalkBlock = 4096;        // headers only, so little is read ahead
constexpr size_t kReplayBlock = 4 << 20;

std::optional<uint64_t> position_in_name(std::string_view name) {
  if (!name.starts_with(kSegmentPrefix) || name.size() != kSegmentPrefix.size() + kDigits) return std::nullopt;
  const auto number = parse_integer(name.substr(kSegmentPrefix.size()));
  return number && *number >= 0 ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
}

Status damaged(const LogSegment& segment, uint64_t offset, std::string_view what) {
  return Status::data_loss(
      "log file '{}' is damaged at byte {}: {}; records after it were acknowledged, so this is not an unfinished write. Restore "
      "the file, or start from a snapshot without this log",
      segment.path.string(), offset, what);
}

Status check_segment_header(const LogSegment& segment, FileWindow& window) {
  if (window.size() < kSegmentHeaderSize) return damaged(segment, window.size(), "it ends inside its header");
  ASSIGN_OR_RETURN(const Bytes bytes, window.at(0, kSegmentHeaderSize));
  const auto first = decode_segment_header(bytes);
  if (!first) return damaged(segment, 0, "its header is not one of a log file of version 1");
  if (*first == segment.first) return {};
  return damaged(segment, 0, fmt::format("its header says position {}, its name {}", *first, segment.first));
}

// The record header at `offset` if there is a good one whose record fits into the file.
Result<std::optional<RecordHeader>> header_at(const LogSegment& segment, FileWindow& window, uint64_t offset) {
  const uint64_t left = window.size() - offset;
  if (left < kRecordHeaderSize) return std::optional<RecordHeader>();
  ASSIGN_OR_RETURN(const Bytes bytes, window.at(offset, kRecordHeaderSize));
  const auto header = decode_record_header(bytes, segment.first + offset);
  if (!header || header->length > left || record_size(header->length) > left) return std::optional<RecordHeader>();
  return header;
}

// The payload of the record at `offset`, or an empty optional where its checksum or its padding is wrong.
Result<std::optional<Bytes>> payload_at(FileWindow& window, uint64_t offset, const RecordHeader& header) {
  ASSIGN_OR_RETURN(const Bytes bytes, window.at(offset + kRecordHeaderSize, record_size(header.length) - kRecordHeaderSize));
  const Bytes payload = bytes.first(header.length);
  const Bytes padding = bytes.subspan(header.length);
  const bool good = checksum_of(payload) == header.checksum &&
                    std::all_of(padding.begin(), padding.end(), [](std::byte b) { return b == std::byte{0}; });
  return good || ARGOSY_PLANTED("torn_record_kept") ? std::optional(payload) : std::optional<Bytes>();
}

struct Walk {
  uint64_t end = kSegmentHeaderSize;     // behind the last record whose header is good
  uint64_t batch = kSegmentHeaderSize;   // first record of the last batch
  uint64_t before = kSegmentHeaderSize;  // first record of the batch before it
};

Result<Walk> walk_headers(const LogSegment& segment, FileWindow& window) {
  Walk walk;
  for (uint64_t batch = 0;;) {
    ASSIGN_OR_RETURN(const auto header, header_at(segment, window, walk.end));
    if (!header) return walk;
    if (header->batch != batch) {
      walk.before = walk.batch;
      walk.batch = walk.end;
    }
    batch = header->batch;
    walk.end += record_size(header->length);
  }
}

// Whether anything behind `offset` was written when the bytes at `offset` were complete.
Result<bool> was_complete(const LogSegment& segment, FileWindow& window, uint64_t offset) {
  for (uint64_t at = offset + 8; at + kRecordHeaderSize <= window.size(); at += 8) {
    ASSIGN_OR_RETURN(const Bytes bytes, window.at(at, kRecordHeaderSize));
    const auto header = decode_record_header(bytes, segment.first + at);
    if (header && header->batch > segment.first + offset) return true;
  }
  return false;
}

// Where the first record with a bad payload begins, from `at` on; `end` if there is none before it.
Result<uint64_t> first_bad_payload(const LogSegment& segment, FileWindow& window, uint64_t at, uint64_t end) {
  while (at < end) {
    ASSIGN_OR_RETURN(const auto header, header_at(segment, window, at));
    if (!header) break;
    ASSIGN_OR_RETURN(const auto payload, payload_at(window, at, *header));
    if (!payload) break;
    at += record_size(header->length);
  }
  return at;
}

// Where the whole records end, after a power cut that left those before `synced` alone.
Result<uint64_t> whole_records_end(const LogSegment& segment, FileWindow& window, uint64_t synced) {
  uint64_t at = kSegmentHeaderSize;
  while (at < segment.size) {
    ASSIGN_OR_RETURN(const auto header, header_at(segment, window, at));
    if (!header && segment.first + at < synced) return damaged(segment, at, "the header of a record is wrong");
    if (!header) break;
    if (segment.first + at >= synced) {
      ASSIGN_OR_RETURN(const auto payload, payload_at(window, at, *header));
      if (!payload) break;
    }
    at += record_size(header->length);
  }
  return at;
}

// The next place behind `offset` at which a good header stands; the segment's end if there is none.
Result<uint64_t> next_header(const LogSegment& segment, FileWindow& window, uint64_t offset) {
  for (uint64_t at = offset + 8; at + kRecordHeaderSize <= segment.size; at += 8) {
    ASSIGN_OR_RETURN(const auto header, header_at(segment, window, at));
    if (header) return at;
  }
  return segment.size;
}

}  // namespace

fs::path segment_path(const fs::path& folder, uint64_t first) {
  return folder / fmt::format("{}{:0{}}", kSegmentPrefix, first, kDigits);
}

Result<std::vector<LogSegment>> list_segments(const fs::path& folder) {
  std::vector<LogSegment> segments;
  std::error_code error;
  for (fs::directory_iterator entries(folder, error), end; !error && entries != end; entries.increment(error)) {
    const auto first = position_in_name(entries->path().filename().string());
    if (first) segments.push_back({.path = entries->path(), .first = *first, .size = entries->file_size(error)});
  }
  if (error) return Status::unavailable("cannot read the log folder '{}': {}", folder.string(), error.message());
  std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 1; i < segments.size(); ++i) {
    const LogSegment& before = segments[i - 1];
    if (before.end() == segments[i].first) continue;
    return Status::data_loss("log file '{}' ends at position {}, but the next one is '{}': {}", before.path.string(),
                             before.end(), segments[i].path.string(),
                             before.end() < segments[i].first ? "its end or a file between them is missing" : "it is too long");
  }
  return segments;
}

Result<uint64_t> find_good_size(const LogSegment& segment, uint64_t synced) {
  if (segment.size < kSegmentHeaderSize) return uint64_t{0};
  ASSIGN_OR_RETURN(const DiskFile file, DiskFile::open(segment.path));
  FileWindow window(file, segment.size, kWalkBlock);
  RETURN_IF_ERROR(check_segment_header(segment, window));
  if (synced != kAllSynced) return whole_records_end(segment, window, synced);
  ASSIGN_OR_RETURN(const Walk walk, walk_headers(segment, window));
  if (walk.end < segment.size) {
    ASSIGN_OR_RETURN(const bool complete, was_complete(segment, window, walk.end));
    if (complete) return damaged(segment, walk.end, "the header of a record is wrong");
  }
  // The kernel may have kept a later page of the last batch and lost an earlier one.
  ASSIGN_OR_RETURN(const uint64_t good, first_bad_payload(segment, window, walk.batch, walk.end));
  if (good > walk.batch) return good;
  // Nothing of the last batch stays. The one before it was complete, and must not be taken for unfinished the next time.
  ASSIGN_OR_RETURN(const uint64_t bad, first_bad_payload(segment, window, walk.before, walk.batch));
  if (bad < walk.batch) return damaged(segment, bad, "the bytes of a record do not have its checksum");
  return good;
}

Status replay_segment(const LogSegment& segment, uint64_t from, const LogVisitor& visitor) {
  ASSIGN_OR_RETURN(const DiskFile file, DiskFile::open(segment.path));
  FileWindow front(file, segment.size, kWalkBlock);  // the records that are wanted may be far behind it
  RETURN_IF_ERROR(check_segment_header(segment, front));
  FileWindow window(file, segment.size, kReplayBlock);
  uint64_t at = std::max<uint64_t>(from - std::min(from, segment.first), kSegmentHeaderSize);
  while (at < segment.size) {
    ASSIGN_OR_RETURN(const auto header, header_at(segment, window, at));
    if (!header) return damaged(segment, at, "the header of a record is wrong");
    ASSIGN_OR_RETURN(const auto payload, payload_at(window, at, *header));
    if (!payload) {
      return damaged(segment, at, fmt::format("the {} bytes of the record do not have its checksum", header->length));
    }
    if (ARGOSY_PLANTED("replay_drops_last") && at + record_size(header->length) >= segment.size) break;
    RETURN_IF_ERROR(visitor(segment.first + at, *payload));
    at += record_size(header->length);
  }
  return {};
}

Status scan_segment(const LogSegment& segment, uint64_t from, const std::function<Status(const LogPiece&)>& visitor) {
  ASSIGN_OR_RETURN(const DiskFile file, DiskFile::open(segment.path));
  FileWindow window(file, segment.size, kReplayBlock);
  RETURN_IF_ERROR(check_segment_header(segment, window));
  uint64_t at = std::max<uint64_t>(from - std::min(from, segment.first), kSegmentHeaderSize);
  while (at < segment.size) {
    LogPiece piece{.offset = at, .batch = segment.first + at};
    ASSIGN_OR_RETURN(const auto header, header_at(segment, window, at));
    if (!header) {
      ASSIGN_OR_RETURN(const uint64_t next, next_header(segment, window, at));
      piece.size = next - at;
      piece.problem = "the header of a record is wrong";
    } else {
      ASSIGN_OR_RETURN(const auto payload, payload_at(window, at, *header));
      piece.size = record_size(header->length);
      piece.batch = header->batch;
      if (payload) piece.payload = *payload;
      if (!payload) piece.problem = fmt::format("the {} bytes of the record do not have its checksum", header->length);
    }
    RETURN_IF_ERROR(visitor(piece));
    at += piece.size;
  }
  return {};
}

}  // namespace argosy::table
