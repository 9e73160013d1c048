#include "argosy/table/log_format.h"

#include <bit>
#include <cstring>

#include "argosy/table/checksum.h"

namespace argosy::table {
namespace {

static_assert(std::endian::native == std::endian::little, "the formats are little endian and written as they lie in memory");

constexpr std::array<char, 8> kSegmentMagic = {'a', 'r', 'g', 'o', 's', 'y', 'w', 'l'};
constexpr uint64_t kVersion = 1;
constexpr uint32_t kRecordMagic = 0x6472676c;  // "lgrd"

struct SegmentBytes {
  std::array<char, 8> magic = kSegmentMagic;
  uint64_t version = kVersion;
  uint64_t first = 0;
  uint64_t check = 0;  // of the fields before it
};
static_assert(sizeof(SegmentBytes) == kSegmentHeaderSize);

struct RecordBytes {
  uint32_t magic = kRecordMagic;
  uint32_t check = 0;  // of the fields after it and the record's position
  RecordHeader header;
};
static_assert(sizeof(RecordBytes) == kRecordHeaderSize);

uint64_t check_of(const SegmentBytes& bytes) {
  return checksum_of(std::as_bytes(std::span(&bytes, 1)).first(offsetof(SegmentBytes, check)));
}

uint32_t check_of(const RecordHeader& header, uint64_t position) {
  const std::array<uint64_t, 4> fields = {header.length, header.checksum, header.batch, position};
  return static_cast<uint32_t>(checksum_of(std::as_bytes(std::span(fields))));
}

}  // namespace

HeaderBytes encode_segment_header(uint64_t first) {
  SegmentBytes bytes{.first = first};
  bytes.check = check_of(bytes);
  return std::bit_cast<HeaderBytes>(bytes);
}

HeaderBytes encode_record_header(const RecordHeader& header, uint64_t position) {
  return std::bit_cast<HeaderBytes>(RecordBytes{.check = check_of(header, position), .header = header});
}

std::optional<uint64_t> decode_segment_header(Bytes bytes) {
  SegmentBytes header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const bool good = header.magic == kSegmentMagic && header.version == kVersion && header.check == check_of(header);
  return good ? std::optional(header.first) : std::nullopt;
}

std::optional<RecordHeader> decode_record_header(Bytes bytes, uint64_t position) {
  RecordBytes record;
  std::memcpy(&record, bytes.data(), sizeof record);
  if (record.magic != kRecordMagic || record.check != check_of(record.header, position)) return std::nullopt;
  return record.header;
}

}  // namespace argosy::table
