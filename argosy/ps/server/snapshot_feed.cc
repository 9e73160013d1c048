#include "argosy/ps/server/snapshot_feed.h"

#include <algorithm>

#include "argosy/base/disk_file.h"
#include "argosy/table/snapshot_part.h"
#include "argosy/table/snapshot_store.h"
#include "argosy/table/snapshot_writer.h"

namespace argosy::ps {
namespace {

constexpr uint64_t kMostCopiedBytes = uint64_t{16} << 20;

std::filesystem::path copied_part_of(const ServerOptions& options, uint64_t number) {
  return table::server_folder(table::numbered_snapshot(options.directory / "snapshots", number),
                              static_cast<uint32_t>(options.server), static_cast<uint32_t>(options.servers));
}

}  // namespace

// One that is being written has no manifest yet, and one that is being removed none any more.
Result<uint64_t> newest_snapshot(const ServerOptions& options) {
  if (options.directory.empty()) return 0;
  ASSIGN_OR_RETURN(const auto numbers, table::list_snapshots(options.directory / "snapshots"));
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    if (table::open_server_folder(copied_part_of(options, *number)).ok()) return *number;
  }
  return 0;
}

Result<wire::CopySnapshotReply> SnapshotFeed::newest() const {
  wire::CopySnapshotReply reply;
  ASSIGN_OR_RETURN(const uint64_t number, newest_snapshot(options_));
  if (number == 0) return reply;
  const std::filesystem::path part = copied_part_of(options_, number);
  const auto manifest = table::open_server_folder(part);
  std::error_code error;
  const uint64_t manifest_bytes = std::filesystem::file_size(part / "manifest", error);
  if (!manifest.ok() || error) return Status::unavailable("{}: snapshot {} is being removed; try again", name_, number);
  const auto add = [&](const std::string& name, uint64_t size) {
    wire::CopySnapshotReply::File* file = reply.add_files();
    file->set_name(name);
    file->set_bytes(size);
  };
  reply.set_number(number);
  for (const table::SnapshotPart& one : manifest->parts) add(one.file, one.bytes);
  add("state", manifest->state_bytes);
  add("manifest", manifest_bytes);
  return reply;
}

Result<std::vector<std::byte>> SnapshotFeed::bytes(const wire::CopySnapshotRequest& request) const {
  const Status gone = Status::not_found("{} has no snapshot {} any more; begin anew with the newest", name_, request.number());
  const std::filesystem::path part = copied_part_of(options_, request.number());
  const auto manifest = table::open_server_folder(part);
  if (!manifest.ok()) return gone;
  const bool listed = request.file() == "manifest" || request.file() == "state" ||
                      std::ranges::find(manifest->parts, request.file(), &table::SnapshotPart::file) != manifest->parts.end();
  if (!listed) return Status::invalid_argument("snapshot {} of {} has no file '{}'", request.number(), name_, request.file());
  const auto file = DiskFile::open(part / request.file());
  if (!file.ok()) return gone;
  const uint64_t most = std::min(kMostCopiedBytes, answer_.most() / 2);
  std::vector<std::byte> room(std::clamp<uint64_t>(request.max_bytes(), 1, most));
  ASSIGN_OR_RETURN(const size_t read, file->read_at(request.offset(), room));
  room.resize(read);
  return room;
}

void SnapshotFeed::copy(const CallPtr& call, State&, const wire::CopySnapshotRequest& request) {
  if (request.number() == 0) {
    const auto reply = newest();
    return reply.ok() ? call->send(outgoing(*reply)) : call->fail(reply.status());
  }
  auto piece = bytes(request);
  if (!piece.ok()) return call->fail(piece.status());
  wire::CopySnapshotReply reply;
  reply.set_number(request.number());
  call->send(outgoing(reply, {rpc::Slice::own(std::move(*piece))}));
}

}  // namespace argosy::ps
