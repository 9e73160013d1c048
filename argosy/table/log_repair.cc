#include "argosy/table/log_repair.h"

#include <system_error>

#include "argosy/base/file.h"
#include "argosy/table/checksum.h"
#include "argosy/table/log_format.h"

namespace argosy::table {
namespace fs = std::filesystem;
namespace {

constexpr size_t kCopyBlock = 4 << 20;

Result<std::string> bytes_at(const DiskFile& file, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  ASSIGN_OR_RETURN(const size_t read, file.read_at(offset, std::as_writable_bytes(std::span(bytes))));
  bytes.resize(read);
  return bytes;
}

Status copy_bytes(const DiskFile& from, uint64_t size, DiskFile& to) {
  for (uint64_t at = 0; at < size; at += kCopyBlock) {
    ASSIGN_OR_RETURN(const std::string block, bytes_at(from, at, std::min<uint64_t>(kCopyBlock, size - at)));
    const Bytes piece = std::as_bytes(std::span(block));
    RETURN_IF_ERROR(to.write_at(at, {&piece, 1}));
  }
  return {};
}

Status keep_piece(const LogSegment& segment, const DiskFile& file, const LogPiece& piece) {
  const fs::path target = set_aside_path(segment.path.parent_path(), segment.first + piece.offset);
  std::error_code error;
  if (fs::exists(target, error)) {
    return Status::failed_precondition("'{}' is there already, and is not replaced: move it away first", target.string());
  }
  ASSIGN_OR_RETURN(const std::string bytes, bytes_at(file, piece.offset, piece.size));
  return write_file_atomically(target, bytes);
}

Status replace_piece(const LogSegment& segment, const LogPiece& piece, const std::string& payload, DiskFile& file) {
  const Bytes bytes = std::as_bytes(std::span(payload));
  const RecordHeader header{.length = payload.size(), .checksum = checksum_of(bytes), .batch = piece.batch};
  const HeaderBytes head = encode_record_header(header, segment.first + piece.offset);
  const Bytes pieces[] = {Bytes(head), bytes};
  return file.write_at(piece.offset, pieces);
}

}  // namespace

fs::path set_aside_path(const fs::path& folder, uint64_t position) { return folder / fmt::format("set-aside-{:020}", position); }

Status set_aside(const LogSegment& segment, std::span<const LogPiece> pieces,
                 const std::function<std::string(uint64_t bytes)>& instead) {
  ASSIGN_OR_RETURN(const DiskFile file, DiskFile::open(segment.path));
  for (const LogPiece& piece : pieces) RETURN_IF_ERROR(keep_piece(segment, file, piece));
  const fs::path temporary = fs::path(segment.path) += ".repair";
  ASSIGN_OR_RETURN(DiskFile copy, DiskFile::create(temporary));
  RETURN_IF_ERROR(copy_bytes(file, segment.size, copy));
  for (const LogPiece& piece : pieces) {
    RETURN_IF_ERROR(replace_piece(segment, piece, instead(piece.size - kRecordHeaderSize), copy));
  }
  RETURN_IF_ERROR(copy.sync());
  std::error_code error;
  fs::rename(temporary, segment.path, error);
  if (error) return Status::unavailable("cannot replace '{}': {}", segment.path.string(), error.message());
  return sync_folder(segment.path.parent_path());
}

}  // namespace argosy::table
