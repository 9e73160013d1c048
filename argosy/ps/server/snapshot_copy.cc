#include "argosy/ps/server/snapshot_copy.h"

#include "argosy/base/disk_file.h"
#include "argosy/base/file.h"
#include "argosy/table/snapshot_writer.h"

namespace argosy::ps {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kCopyPieceBytes = uint64_t{8} << 20;
constexpr double kCopyPieceSeconds = 60;

Status copy_snapshot_file(PrimaryLink& primary, uint64_t number, const wire::CopySnapshotReply::File& from, const fs::path& to) {
  ASSIGN_OR_RETURN(DiskFile file, DiskFile::create(to));
  for (uint64_t at = 0; at < from.bytes();) {
    wire::CopySnapshotRequest request;
    request.set_number(number);
    request.set_file(from.name());
    request.set_offset(at);
    request.set_max_bytes(std::min(kCopyPieceBytes, from.bytes() - at));
    rpc::PayloadBuffer piece;
    RETURN_IF_ERROR(
        primary.call<wire::CopySnapshotReply>(wire::COPY_SNAPSHOT, request, Deadline::after_seconds(kCopyPieceSeconds), &piece)
            .status());
    if (piece.size() == 0) return Status::unavailable("'{}' of snapshot {} has become shorter", from.name(), number);
    const argosy::Bytes bytes{reinterpret_cast<const std::byte*>(piece.data()), piece.size()};
    RETURN_IF_ERROR(file.write_at(at, {&bytes, 1}));
    at += piece.size();
  }
  return {};
}

// What the primary names becomes the name of a file here.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

}  // namespace

Result<SnapshotCopy> SnapshotCopy::take(PrimaryLink& primary, const fs::path& directory) {
  RETURN_IF_ERROR(make_folder(directory));
  ASSIGN_OR_RETURN(Temporary folder, Temporary::folder(directory / "argosy-follower-snapshot"));
  ASSIGN_OR_RETURN(const auto list, primary.call<wire::CopySnapshotReply>(wire::COPY_SNAPSHOT, wire::CopySnapshotRequest(),
                                                                          Deadline::after_seconds(kCopyPieceSeconds)));
  if (list.number() == 0) return Status::unavailable("{} has no snapshot to begin from yet", primary.peer());
  const table::OneServer who{static_cast<uint32_t>(primary.info().server), static_cast<uint32_t>(primary.info().servers)};
  const fs::path part = table::server_folder(folder.path(), who.server, who.servers);
  RETURN_IF_ERROR(make_folder(part));
  for (const wire::CopySnapshotReply::File& file : list.files()) {
    if (!is_plain_name(file.name())) return Status::data_loss("{} names a file '{}'", primary.peer(), file.name());
    const Status copied = copy_snapshot_file(primary, list.number(), file, part / file.name());
    if (copied.code() == Code::not_found) return Status::unavailable("{}", copied.message());
    RETURN_IF_ERROR(copied);
  }
  ASSIGN_OR_RETURN(table::Snapshot snapshot, table::Snapshot::open(folder.path(), who));
  wire::StateImage head;
  if (!head.ParseFromString(snapshot.states().at(0))) {
    return Status::data_loss("the state in snapshot {} of {} cannot be read", list.number(), primary.peer());
  }
  return SnapshotCopy(std::move(folder), std::move(snapshot), std::move(head));
}

}  // namespace argosy::ps
