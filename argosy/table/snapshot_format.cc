#include "argosy/table/snapshot_format.h"

#include <bit>
#include <cstring>

#include "argosy/table/checksum.h"

namespace argosy::table {
namespace {

constexpr uint32_t kChunkMagic = 0x6b686373;  // "schk"

struct RawHeader {
  uint32_t magic = kChunkMagic;
  uint32_t kind = 0;
  uint64_t number = 0, name_bytes = 0, bytes = 0, offset = 0, count = 0;
  uint64_t checksum = 0;
};
static_assert(sizeof(RawHeader) == kChunkHeaderSize);

RawHeader raw(const ChunkHeader& header) {
  return {.kind = static_cast<uint32_t>(header.kind),
          .number = header.number,
          .name_bytes = header.name_bytes,
          .bytes = header.bytes,
          .offset = header.offset,
          .count = header.count,
          .checksum = header.checksum};
}

bool sizes_agree(SnapshotChunk::Kind kind, uint64_t count, uint64_t bytes) {
  switch (kind) {
    case SnapshotChunk::Kind::progress:
    case SnapshotChunk::Kind::state:
    case SnapshotChunk::Kind::dense: return true;
    case SnapshotChunk::Kind::rows: return count > 0 && bytes % count == 0 && bytes / count >= sizeof(uint64_t);
    case SnapshotChunk::Kind::erased: return count > 0 && count <= bytes && bytes == count * sizeof(uint64_t);
  }
  return false;
}

}  // namespace

uint64_t SnapshotChunk::key(uint64_t index) const {
  uint64_t key = 0;
  std::memcpy(&key, bytes.data() + index * record_bytes(), sizeof key);
  return key;
}

Status check_chunk(const SnapshotChunk& chunk) {
  if (chunk.table.empty() || chunk.table.size() > kMaxTableName || chunk.table.find('\n') != std::string_view::npos) {
    return Status::invalid_argument("a table in a snapshot needs a name of 1 to {} bytes without a line end; this one is '{}'",
                                    kMaxTableName, chunk.table.substr(0, 100));
  }
  if (chunk.bytes.size() > kMaxChunkBytes) {
    return Status::invalid_argument("table '{}': a chunk of {} bytes is too large for a snapshot, which takes {}; cut it",
                                    chunk.table, chunk.bytes.size(), kMaxChunkBytes);
  }
  if (!sizes_agree(chunk.kind, chunk.count, chunk.bytes.size())) {
    return Status::invalid_argument("table '{}': {} bytes are not {} records of equal size with a key each", chunk.table,
                                    chunk.bytes.size(), chunk.count);
  }
  return {};
}

ChunkHeaderBytes encode_chunk_header(const ChunkHeader& header) { return std::bit_cast<ChunkHeaderBytes>(raw(header)); }

std::optional<ChunkHeader> decode_chunk_header(Bytes bytes) {
  RawHeader raw;
  std::memcpy(&raw, bytes.data(), sizeof raw);
  const auto kind = static_cast<SnapshotChunk::Kind>(raw.kind);
  if (raw.magic != kChunkMagic || raw.name_bytes == 0 || raw.name_bytes > kMaxTableName || raw.bytes > kMaxChunkBytes ||
      !sizes_agree(kind, raw.count, raw.bytes)) {
    return std::nullopt;
  }
  return ChunkHeader{.kind = kind,
                     .number = raw.number,
                     .name_bytes = raw.name_bytes,
                     .bytes = raw.bytes,
                     .offset = raw.offset,
                     .count = raw.count,
                     .checksum = raw.checksum};
}

uint64_t chunk_checksum(const ChunkHeader& header, std::span<const Bytes> body) {
  const ChunkHeaderBytes bytes = encode_chunk_header(header);
  std::vector<Bytes> pieces = {Bytes(bytes).first(offsetof(RawHeader, checksum))};
  pieces.insert(pieces.end(), body.begin(), body.end());
  return checksum_of(pieces);
}

uint64_t extend_part_checksum(uint64_t checksum, uint64_t chunk_checksum) {
  const std::array<uint64_t, 2> both = {checksum, chunk_checksum};
  return checksum_of(std::as_bytes(std::span(both)));
}

}  // namespace argosy::table
