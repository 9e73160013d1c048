#include "argosy/table/snapshot_writer.h"

#include <array>

#include "argosy/table/checksum.h"
#include "argosy/table/snapshot_part.h"

namespace argosy::table {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kSnapshotWriteback = 8 << 20;
constexpr std::array<std::byte, 8> kSnapshotZeros{};

Bytes zeros_after(uint64_t size) { return Bytes(kSnapshotZeros).first(fill_to_8(size) - size); }

}  // namespace

fs::path folder_beside(const fs::path& snapshot, const std::string& name) { return (snapshot / "..").lexically_normal() / name; }

fs::path server_folder(const fs::path& snapshot, uint32_t server, uint32_t servers) {
  return snapshot / fmt::format("server-{}-of-{}", server, servers);
}

Result<std::unique_ptr<SnapshotWriter>> SnapshotWriter::open(const fs::path& snapshot, SnapshotInfo info, uint64_t part_bytes) {
  RETURN_IF_ERROR(check_info(info).with_context("snapshot '{}'", snapshot.string()));
  const fs::path target = server_folder(snapshot, info.server, info.servers);
  RETURN_IF_ERROR(check_only_snapshot(snapshot));
  ASSIGN_OR_RETURN(FolderWriter folder, FolderWriter::open(target, false));
  return std::unique_ptr<SnapshotWriter>(new SnapshotWriter(snapshot, std::move(folder), std::move(info), part_bytes));
}

Status SnapshotWriter::begin_part() {
  if (file_) RETURN_IF_ERROR(file_->sync());
  const std::string name = fmt::format("part-{:05}", manifest_.parts.size());
  ASSIGN_OR_RETURN(DiskFile file, DiskFile::create(folder_.path() / name));
  file_ = std::make_unique<DiskFile>(std::move(file));
  flushed_ = 0;
  manifest_.parts.push_back({.file = name});
  return {};
}

Status SnapshotWriter::add(const SnapshotChunk& chunk) {
  RETURN_IF_ERROR(failed_);
  RETURN_IF_ERROR(check_chunk(chunk));
  if (!file_ || manifest_.parts.back().bytes >= part_bytes_) failed_ = begin_part();
  if (failed_.ok()) failed_ = write(chunk);
  return failed_;
}

Status SnapshotWriter::write(const SnapshotChunk& chunk) {
  SnapshotPart& part = manifest_.parts.back();
  ChunkHeader header{.kind = chunk.kind,
                     .number = part.chunks,
                     .name_bytes = chunk.table.size(),
                     .bytes = chunk.bytes.size(),
                     .offset = chunk.offset,
                     .count = chunk.count};
  std::array<Bytes, 5> pieces = {Bytes(), std::as_bytes(std::span(chunk.table)), zeros_after(header.name_bytes),
                                 std::as_bytes(std::span(chunk.bytes)), zeros_after(header.bytes)};
  header.checksum = chunk_checksum(header, std::span(pieces).subspan(1));
  const ChunkHeaderBytes bytes = encode_chunk_header(header);
  pieces[0] = bytes;
  RETURN_IF_ERROR(file_->write_at(part.bytes, pieces));

  ++part.chunks;
  part.bytes += kChunkHeaderSize + fill_to_8(header.name_bytes) + fill_to_8(header.bytes);
  part.checksum = extend_part_checksum(part.checksum, header.checksum);
  if (part.bytes - flushed_ >= kSnapshotWriteback) {
    file_->start_writeback(flushed_, part.bytes - flushed_);
    flushed_ = part.bytes;
  }
  if (chunk.kind == SnapshotChunk::Kind::state) return {};
  SnapshotTable& table = tables_[std::string(chunk.table)];
  table.bytes += chunk.bytes.size();
  if (chunk.kind == SnapshotChunk::Kind::rows || chunk.kind == SnapshotChunk::Kind::dense) table.count += chunk.count;
  return {};
}

Status SnapshotWriter::commit(std::string_view state) {
  RETURN_IF_ERROR(failed_);
  if (file_) RETURN_IF_ERROR(file_->sync());
  manifest_.state_bytes = state.size();
  manifest_.state_checksum = checksum_of(std::as_bytes(std::span(state)));
  manifest_.tables.clear();
  for (const auto& [name, table] : tables_) {
    manifest_.tables.push_back({.name = name, .count = table.count, .bytes = table.bytes});
  }
  RETURN_IF_ERROR(folder_.write("state", state));
  RETURN_IF_ERROR(folder_.write("manifest", manifest_text(manifest_)));
  RETURN_IF_ERROR(check_only_snapshot(snapshot_));
  RETURN_IF_ERROR(folder_.commit());
  return sync_folder(folder_beside(snapshot_, "."));
}

}  // namespace argosy::table
