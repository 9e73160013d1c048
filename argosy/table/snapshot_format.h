#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/disk_file.h"
#include "argosy/base/status.h"

// The bytes of a snapshot's files; docs/formats.md has the tables.
namespace argosy::table {

enum class SnapshotKind {
  full,   // everything
  base,   // what deltas build on, with no more of the state than its writer chose
  delta,  // what has changed since its parent
};
std::string_view kind_name(SnapshotKind kind);

// What a delta builds on: the name of a folder beside its own, and the id of the snapshot in it.
struct SnapshotParent {
  std::string name;
  uint64_t id = 0;

  friend bool operator==(const SnapshotParent&, const SnapshotParent&) = default;
};

// What one server says of its part of a snapshot.
struct SnapshotInfo {
  uint64_t id = 0;  // the same for all servers of one snapshot, another for each snapshot: drawn by the caller
  SnapshotKind kind = SnapshotKind::full;
  uint64_t step = 0;
  uint32_t server = 0;
  uint32_t servers = 1;
  std::optional<SnapshotParent> parent;  // of a delta

  friend bool operator==(const SnapshotInfo&, const SnapshotInfo&) = default;
};

// An error if no snapshot can be like this: a server beyond the number of servers, a delta without a parent.
Status check_info(const SnapshotInfo& info);

struct SnapshotPart {
  std::string file;
  uint64_t bytes = 0;
  uint64_t chunks = 0;
  uint64_t checksum = 0;  // of the chunks' checksums, see extend_part_checksum

  friend bool operator==(const SnapshotPart&, const SnapshotPart&) = default;
};

struct SnapshotTable {
  std::string name;
  uint64_t count = 0;  // rows of a sparse table, elements of a dense one
  uint64_t bytes = 0;

  friend bool operator==(const SnapshotTable&, const SnapshotTable&) = default;
};

struct SnapshotManifest {
  SnapshotInfo info;
  uint64_t state_bytes = 0;
  uint64_t state_checksum = 0;
  std::vector<SnapshotPart> parts;
  std::vector<SnapshotTable> tables;

  friend bool operator==(const SnapshotManifest&, const SnapshotManifest&) = default;
};

// REQUIRES: no name in it has a line end.
std::string manifest_text(const SnapshotManifest& manifest);
// The text may come from anywhere: what is not a whole manifest is `data_loss`, and the message names the line.
Result<SnapshotManifest> parse_manifest(std::string_view text);

// A piece of a table. The views are valid as long as the giver of the chunk says.
struct SnapshotChunk {
  enum class Kind : uint32_t {
    progress = 1,  // what a table has besides rows and elements
    dense = 2,     // `count` elements of a dense table from element `offset` on, in the table's own form
    rows = 3,      // `count` records of equal size, each with its key in front, as SparseTable exports them
    erased = 4,    // `count` keys whose rows are gone since the parent
    state = 5,     // a piece of what the server knows besides its tables; `table` is kStateName
  };

  Kind kind = Kind::rows;
  std::string_view table;
  uint64_t offset = 0;
  uint64_t count = 0;
  std::string_view bytes;

  // Of rows and erased keys. REQUIRES: count > 0.
  size_t record_bytes() const { return bytes.size() / count; }
  uint64_t key(uint64_t index) const;
};

// The chunk is valid during the call only; its bytes lie at a multiple of 8 in memory. An error ends the reading.
using SnapshotVisitor = std::function<Status(const SnapshotChunk& chunk)>;

// A chunk is held in memory as a whole; a writer makes those of rows much smaller.
inline constexpr uint64_t kMaxChunkBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMaxTableName = 4096;
inline constexpr std::string_view kStateName = "state";
inline constexpr size_t kChunkHeaderSize = 56;

// An error that names the table if the chunk cannot be written or was not written by this format: sizes that do not go
// together, a name or a chunk that is too long.
Status check_chunk(const SnapshotChunk& chunk);

// A chunk in front of its name and bytes, each filled up with zeros to a multiple of 8.
struct ChunkHeader {
  SnapshotChunk::Kind kind = SnapshotChunk::Kind::rows;
  uint64_t number = 0;  // in its file
  uint64_t name_bytes = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;
  uint64_t count = 0;
  uint64_t checksum = 0;  // of the fields before it, the name and the bytes, zeros included
};
using ChunkHeaderBytes = std::array<std::byte, kChunkHeaderSize>;

ChunkHeaderBytes encode_chunk_header(const ChunkHeader& header);
// Nothing where the bytes are not a chunk header, or one with sizes that no writer makes. REQUIRES: 56 bytes.
std::optional<ChunkHeader> decode_chunk_header(Bytes bytes);
// What belongs into `checksum`: of the header, whose own checksum does not count, and what follows it.
uint64_t chunk_checksum(const ChunkHeader& header, std::span<const Bytes> body);

constexpr uint64_t fill_to_8(uint64_t size) { return (size + 7) / 8 * 8; }
uint64_t extend_part_checksum(uint64_t checksum, uint64_t chunk_checksum);

}  // namespace argosy::table
