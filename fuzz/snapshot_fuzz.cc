// Any bytes as the manifest or a part file of a snapshot: no crash, and what is accepted holds together.
//
// The first byte of an input says what the rest is: 0, a manifest; 1, one that gets a good last line; 2, a part file; 3, one
// whose chunks get good checksums, so that sizes which no writer makes come past them.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "argosy/base/check.h"
#include "argosy/base/fd.h"
#include "argosy/table/checksum.h"
#include "argosy/table/snapshot_format.h"
#include "argosy/table/snapshot_part.h"

using namespace argosy;
using namespace argosy::table;

namespace {

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void check_manifest(const std::string& text) {
  const auto manifest = parse_manifest(text);
  if (!manifest.ok()) {
    ARGOSY_CHECK(manifest.status().code() == Code::data_loss, manifest.status().message());
    return;
  }
  const auto again = parse_manifest(manifest_text(*manifest));
  ARGOSY_CHECK(again.ok() && *again == *manifest, "a manifest that is written again is another one");
}

// Puts number and checksum into each chunk, as far as there are whole ones, and says so in the part.
void repair(std::string& file, SnapshotPart& part) {
  for (size_t at = 0; file.size() - at >= kChunkHeaderSize; ++part.chunks) {
    auto header = decode_chunk_header(bytes_of(std::string_view(file).substr(at, kChunkHeaderSize)));
    if (!header) return;
    const uint64_t body_size = fill_to_8(header->name_bytes) + fill_to_8(header->bytes);
    if (body_size > file.size() - at - kChunkHeaderSize) return;
    header->number = part.chunks;
    const Bytes body = bytes_of(std::string_view(file).substr(at + kChunkHeaderSize, body_size));
    header->checksum = chunk_checksum(*header, {&body, 1});
    const ChunkHeaderBytes bytes = encode_chunk_header(*header);
    std::memcpy(file.data() + at, bytes.data(), bytes.size());
    part.checksum = extend_part_checksum(part.checksum, header->checksum);
    at += kChunkHeaderSize + body_size;
  }
}

void check_part(std::string bytes, bool repaired) {
  static const Fd file(::memfd_create("part", MFD_CLOEXEC));
  SnapshotPart part{.file = std::to_string(file.get()), .bytes = bytes.size()};
  if (repaired) repair(bytes, part);
  ARGOSY_CHECK(::ftruncate(file.get(), 0) == 0);
  ARGOSY_CHECK(::pwrite(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  uint64_t shown = 0;
  const Status status = read_part_file("/proc/self/fd", part, [&](const SnapshotChunk& chunk) {
    ++shown;
    const bool records = chunk.kind == SnapshotChunk::Kind::rows || chunk.kind == SnapshotChunk::Kind::erased;
    ARGOSY_CHECK(!records || chunk.record_bytes() * chunk.count == chunk.bytes.size(), "records that do not fill their chunk");
    return Status();
  });
  ARGOSY_CHECK(status.ok() ? shown == part.chunks : status.code() == Code::data_loss, status.message());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 1) input += fmt::format("end {:016x}\n", checksum_of(bytes_of(input)));
  if (data[0] <= 1) {
    check_manifest(input);
  } else {
    check_part(std::move(input), data[0] == 3);
  }
  return 0;
}
