#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "argosy/base/disk_file.h"

// The bytes of a log's files; docs/formats.md has the tables. Everything starts at a multiple of 8.
namespace argosy::table {

inline constexpr size_t kSegmentHeaderSize = 32;
inline constexpr size_t kRecordHeaderSize = 32;

struct RecordHeader {
  uint64_t length = 0;    // of the payload
  uint64_t checksum = 0;  // of the payload
  uint64_t batch = 0;     // position of the first record that was written together with this one: all before it was complete
};

using HeaderBytes = std::array<std::byte, 32>;

HeaderBytes encode_segment_header(uint64_t first);
HeaderBytes encode_record_header(const RecordHeader& header, uint64_t position);

// Nothing where the bytes are not the header of a segment, or of a record at this position: its checksum covers the
// position, so that old bytes that have come to lie elsewhere are no record. REQUIRES: 32 bytes.
std::optional<uint64_t> decode_segment_header(Bytes bytes);
std::optional<RecordHeader> decode_record_header(Bytes bytes, uint64_t position);

// Zeros fill a payload up to a multiple of 8.
constexpr size_t padding_after(uint64_t length) { return (8 - length % 8) % 8; }
// Of a whole record. REQUIRES: length is not more than a file can hold.
constexpr uint64_t record_size(uint64_t length) { return kRecordHeaderSize + length + padding_after(length); }

}  // namespace argosy::table
