// Snapshots that users ask for: every server writes its part beside the target, then the first one gives it its name.
#include "argosy/ps/server/snapshotter.h"
#include "argosy/table/snapshot_part.h"
#include "argosy/table/snapshot_store.h"

namespace argosy::ps {
namespace fs = std::filesystem;
namespace {

fs::path saving_folder(const fs::path& folder) { return folder.string() + ".saving"; }

}  // namespace

Result<wire::SaveSnapshotReply> Snapshotter::save_part(Operation& operation, const wire::SaveSnapshotRequest& request) {
  if (host_.state() == nullptr) return Status::failed_precondition("server {} has no tables yet", options_.server);
  ASSIGN_OR_RETURN(const fs::path folder, roots_.resolve(request.folder()));
  RETURN_IF_ERROR(table::check_only_snapshot(folder));
  RETURN_IF_ERROR(table::check_only_snapshot(saving_folder(folder)));
  ASSIGN_OR_RETURN(const auto before, saved_before(request, folder));
  if (before) return *before;
  return write_part(operation, request, folder);
}

// What was answered to the same call, if its part is there: the process before may have written it, and died before anybody knew.
Result<std::optional<wire::SaveSnapshotReply>> Snapshotter::saved_before(const wire::SaveSnapshotRequest& request,
                                                                         const fs::path& folder) {
  for (const fs::path& place : {saving_folder(folder), folder}) {
    const auto manifest = table::open_server_folder(part_of(place));
    if (!manifest.ok() || manifest->info.id != request.id()) continue;
    ASSIGN_OR_RETURN(const std::string state, table::read_state(part_of(place), *manifest));
    wire::StateImage head;
    if (!head.ParseFromString(state)) continue;
    ASSIGN_OR_RETURN(const wire::SavedRecord known, saved_record());
    if (request.kind() != wire::FULL && known.id() != request.id() && known.written().id() != request.id()) {
      RETURN_IF_ERROR(remember(head.saved()));
    }
    return std::optional(head.answer());
  }
  return std::optional<wire::SaveSnapshotReply>();
}

Result<wire::SaveSnapshotReply> Snapshotter::write_part(Operation& operation, const wire::SaveSnapshotRequest& request,
                                                        const fs::path& folder) {
  table::SnapshotInfo what = info();
  what.id = request.id();
  if (request.kind() != wire::FULL) what.kind = table::SnapshotKind::base;
  if (request.kind() == wire::DELTA) {
    ASSIGN_OR_RETURN(what.parent, delta_parent(folder));
    what.kind = table::SnapshotKind::delta;
  }
  StateCut state;
  std::optional<TablesCut> tables;
  wire::SavedRecord saved;
  const auto take_part = [&](State& now) -> Status {
    what.step = now.rate_step();
    RETURN_IF_ERROR(host_.in_order([&](const State& there) ARGOSY_REQUIRES(there.mutex()) {
      if (request.kind() == wire::FULL) state = there.cut();
      saved.set_shrinks(there.delta_base().shrinks());
    }));
    for (size_t i = 0; i < now.tables().size(); ++i) {
      saved.add_steps(now.tables().is_sparse(i) ? now.tables().sparse(i).steps() : 0);
    }
    ASSIGN_OR_RETURN(TablesCut cut,
                     TablesCut::begin(now.tables(), request.kind() == wire::DELTA ? &now.delta_base().record() : nullptr));
    tables.emplace(std::move(cut));
    return {};
  };
  ASSIGN_OR_RETURN(const double pause, between_changes(take_part));
  operation.set_total(tables->rows());
  saved.set_folder(folder.string());
  saved.set_id(request.id());
  ASSIGN_OR_RETURN(auto writer, table::SnapshotWriter::open(saving_folder(folder), what));
  ASSIGN_OR_RETURN(const WrittenTables written, tables->write(*writer, [&](uint64_t rows) { return operation.progress(rows); }));
  tables.reset();
  wire::SaveSnapshotReply reply;
  reply.set_part(part_of(folder).filename().string());
  reply.set_rows(written.rows);
  reply.set_bytes(written.bytes);
  reply.set_pause_seconds(pause);
  if (request.kind() != wire::FULL) *state.head.mutable_saved() = saved;
  state.head.set_extra(request.extra());
  *state.head.mutable_answer() = reply;
  ASSIGN_OR_RETURN(const std::string head, state.write(options_.piece_bytes, [&](std::string_view piece) {
    return writer->add({table::SnapshotChunk::Kind::state, table::kStateName, 0, 1, piece});
  }));
  RETURN_IF_ERROR(operation.alive());
  RETURN_IF_ERROR(writer->commit(head));
  RETURN_IF_ERROR(check_written(part_of(saving_folder(folder))));
  if (request.kind() != wire::FULL) RETURN_IF_ERROR(remember(saved));
  return reply;
}

Result<wire::SaveSnapshotReply> Snapshotter::publish(const wire::SaveSnapshotRequest& request) {
  ASSIGN_OR_RETURN(const fs::path folder, roots_.resolve(request.folder()));
  const fs::path written = saving_folder(folder);
  if (!has_id(folder, request.id())) {
    if (options_.server != 0) {
      return Status::failed_precondition("{} does not hold snapshot {:016x}: server 0 gives it its name, before others are told",
                                         folder.string(), request.id());
    }
    ASSIGN_OR_RETURN(const auto complete, table::Snapshot::open(written));
    if (complete.id() != request.id()) {
      return Status::failed_precondition("{} holds snapshot {:016x}, not {:016x}: somebody else saves there too",
                                         written.string(), complete.id(), request.id());
    }
    RETURN_IF_ERROR(table::publish_snapshot(written, folder));
  } else if (std::error_code ignored; options_.server == 0 && table::check_only_snapshot(written).ok()) {
    fs::remove_all(written, ignored);  // of a call that ended between the two: what was there before
  }
  ASSIGN_OR_RETURN(const wire::SavedRecord known, saved_record());
  if (request.kind() != wire::FULL && known.written().id() == request.id()) {
    wire::SavedRecord published;
    published.set_folder(folder.string());
    published.set_id(request.id());
    published.set_published(true);
    RETURN_IF_ERROR(remember(published));
  }
  return wire::SaveSnapshotReply();
}

bool Snapshotter::has_id(const fs::path& folder, uint64_t id) const {
  const auto manifest = table::open_server_folder(part_of(folder));
  return manifest.ok() && manifest->info.id == id;
}

// What a delta into `folder` builds on: the last one that was published, whether this server was told or not.
Result<table::SnapshotParent> Snapshotter::delta_parent(const fs::path& folder) {
  ASSIGN_OR_RETURN(wire::SavedRecord saved, saved_record());
  if (saved.written().id() != 0 && has_id(saved.written().folder(), saved.written().id())) {
    wire::SavedRecord published;
    published.set_folder(saved.written().folder());
    published.set_id(saved.written().id());
    published.set_published(true);
    RETURN_IF_ERROR(remember(published));
    ASSIGN_OR_RETURN(saved, saved_record());
  }
  if (saved.id() == 0) {
    return Status::failed_precondition(
        "a delta has nothing to build on: no base was saved and published, or rows were set since; save a base");
  }
  const fs::path parent = saved.folder();
  if (parent.parent_path() != folder.parent_path() || parent == folder) {
    return Status::invalid_argument("a delta has to lie beside what it builds on, {}; {} does not", saved.folder(),
                                    folder.string());
  }
  return table::SnapshotParent{parent.filename().string(), saved.id()};
}

Result<wire::SavedRecord> Snapshotter::saved_record() {
  wire::SavedRecord saved;
  RETURN_IF_ERROR(host_.in_order([&](const State& state) { saved = state.delta_base().record(); }));
  return saved;
}

Status Snapshotter::remember(const wire::SavedRecord& saved) {
  ASSIGN_OR_RETURN(const std::string header, serialise(saved));
  return host_.commit(wire::SAVE_SNAPSHOT, header);
}

}  // namespace argosy::ps
