#include "argosy/table/snapshot_part.h"

#include <functional>
#include <system_error>

#include "argosy/base/disk_file.h"
#include "argosy/base/file.h"
#include "argosy/base/temporary.h"
#include "argosy/table/checksum.h"

namespace argosy::table {
namespace fs = std::filesystem;
namespace {

constexpr size_t kReadBlock = 4 << 20;
constexpr uint64_t kMaxManifest = 1 << 26;

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Status check_file(const fs::path& path, uint64_t bytes) {
  std::error_code error;
  const uint64_t found = fs::file_size(path, error);
  if (error)
    return Status::data_loss("snapshot file '{}', of {} bytes by its manifest: {}", path.string(), bytes, error.message());
  if (found != bytes) return Status::data_loss("snapshot file '{}' has {} bytes, expected {}", path.string(), found, bytes);
  return {};
}

// One part file from its beginning to its end.
class PartReader {
 public:
  PartReader(const DiskFile& file, const SnapshotPart& part) : file_(file), part_(part), window_(file, part.bytes, kReadBlock) {}

  Status read(const SnapshotVisitor& visitor) {
    while (at_ < part_.bytes) RETURN_IF_ERROR(read_chunk(visitor));
    if (chunks_ == part_.chunks && checksum_ == part_.checksum) return {};
    return Status::data_loss("snapshot file '{}' has {} chunks with checksum {:016x}, expected {} with {:016x}",
                             file_.path().string(), chunks_, checksum_, part_.chunks, part_.checksum);
  }

 private:
  Status damaged(std::string_view what) const {
    return Status::data_loss("snapshot file '{}' is damaged: the chunk at byte {} {}", file_.path().string(), at_, what);
  }

  Result<ChunkHeader> read_header() {
    const uint64_t left = part_.bytes - at_;
    if (left < kChunkHeaderSize) return damaged(fmt::format("has {} bytes, less than a header", left));
    ASSIGN_OR_RETURN(const Bytes bytes, window_.at(at_, kChunkHeaderSize));
    const auto header = decode_chunk_header(bytes);
    if (!header) return damaged("has no header that a snapshot of version 1 can have");
    if (header->number != chunks_) return damaged(fmt::format("has number {}, expected {}", header->number, chunks_));
    const uint64_t size = kChunkHeaderSize + fill_to_8(header->name_bytes) + fill_to_8(header->bytes);
    if (size > left) return damaged(fmt::format("needs {} bytes, but the file has {} more", size, left));
    return *header;
  }

  Status read_chunk(const SnapshotVisitor& visitor) {
    ASSIGN_OR_RETURN(const ChunkHeader header, read_header());
    const uint64_t name_size = fill_to_8(header.name_bytes);
    const uint64_t body_size = name_size + fill_to_8(header.bytes);
    ASSIGN_OR_RETURN(const Bytes body, window_.at(at_ + kChunkHeaderSize, body_size));
    if (const uint64_t found = chunk_checksum(header, {&body, 1}); found != header.checksum) {
      return damaged(fmt::format("has checksum {:016x}, expected {:016x}", found, header.checksum));
    }
    RETURN_IF_ERROR(visitor({.kind = header.kind,
                             .table = text_of(body.first(header.name_bytes)),
                             .offset = header.offset,
                             .count = header.count,
                             .bytes = text_of(body.subspan(name_size, header.bytes))}));
    at_ += kChunkHeaderSize + body_size;
    ++chunks_;
    checksum_ = extend_part_checksum(checksum_, header.checksum);
    return {};
  }

  const DiskFile& file_;
  const SnapshotPart& part_;
  FileWindow window_;
  uint64_t at_ = 0;
  uint64_t chunks_ = 0;
  uint64_t checksum_ = 0;
};

}  // namespace

Result<SnapshotManifest> open_server_folder(const fs::path& folder) {
  const fs::path path = folder / "manifest";
  std::error_code error;
  if (const uint64_t size = fs::file_size(path, error); error || size > kMaxManifest) {
    return Status::data_loss("snapshot manifest '{}': {}", path.string(),
                             error ? error.message() : fmt::format("has {} bytes", size));
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  auto manifest = parse_manifest(text);
  if (!manifest.ok()) return manifest.status().with_context("snapshot manifest '{}' is damaged", path.string());
  RETURN_IF_ERROR(check_file(folder / "state", manifest->state_bytes));
  for (const SnapshotPart& part : manifest->parts) RETURN_IF_ERROR(check_file(folder / part.file, part.bytes));
  return manifest;
}

Result<std::string> read_state(const fs::path& folder, const SnapshotManifest& manifest) {
  const fs::path path = folder / "state";
  ASSIGN_OR_RETURN(std::string state, read_file(path));
  const uint64_t found = checksum_of(std::as_bytes(std::span(state)));
  if (state.size() == manifest.state_bytes && found == manifest.state_checksum) return state;
  return Status::data_loss("snapshot file '{}' is damaged: {} bytes with checksum {:016x}, expected {} with {:016x}",
                           path.string(), state.size(), found, manifest.state_bytes, manifest.state_checksum);
}

namespace {

// server-<i>-of-<n>, or what a writer that was killed has left of one.
bool is_part_name(std::string_view name) {
  const bool unfinished = name.starts_with(".server-") && has_temporary_name(name);
  return unfinished || (name.starts_with("server-") && name.find("-of-") != std::string_view::npos);
}

bool is_part_file(std::string_view name) { return name == "manifest" || name == "state" || name.starts_with("part-"); }

// What a folder holds that is_ours() does not know; nothing: all is known.
Result<std::optional<fs::path>> find_stranger(const fs::path& folder,
                                              const std::function<bool(const fs::directory_entry&)>& is_ours) {
  std::error_code error;
  for (fs::directory_iterator entries(folder, error), end; !error && entries != end; entries.increment(error)) {
    if (!is_ours(*entries)) return std::optional(entries->path());
  }
  if (error) return Status::unavailable("cannot read the folder '{}': {}", folder.string(), error.message());
  return std::optional<fs::path>();
}

bool has_manifest(const fs::path& part) {
  const auto text = read_file(part / "manifest");
  return text.ok() && text->starts_with("argosy snapshot ");
}

}  // namespace

Status check_only_snapshot(const fs::path& snapshot) {
  const auto refuse = [&](const fs::path& what) {
    return Status::failed_precondition(
        "'{}' is not a snapshot: '{}' was not written by one. Nothing was changed there; choose another folder",
        snapshot.string(), what.string());
  };
  std::error_code error;
  const fs::file_status status = fs::symlink_status(snapshot, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (status.type() != fs::file_type::directory) return refuse(snapshot);
  std::vector<fs::path> parts;
  ASSIGN_OR_RETURN(const auto other, find_stranger(snapshot, [&](const fs::directory_entry& entry) {
                     std::error_code gone;
                     const std::string name = entry.path().filename().string();
                     if (!is_part_name(name) || entry.is_symlink(gone) || !entry.is_directory(gone)) return false;
                     if (name.front() != '.') parts.push_back(entry.path());  // the others come and go while servers write
                     return true;
                   }));
  if (other) return refuse(*other);
  for (const fs::path& part : parts) {
    if (!has_manifest(part)) return refuse(part);
    ASSIGN_OR_RETURN(const auto file, find_stranger(part, [](const fs::directory_entry& entry) {
                       std::error_code gone;
                       return is_part_file(entry.path().filename().string()) && !entry.is_directory(gone);
                     }));
    if (file) return refuse(*file);
  }
  return {};
}

Status read_part_file(const fs::path& folder, const SnapshotPart& part, const SnapshotVisitor& visitor) {
  ASSIGN_OR_RETURN(const DiskFile file, DiskFile::open(folder / part.file));
  return PartReader(file, part).read(visitor);
}

}  // namespace argosy::table
