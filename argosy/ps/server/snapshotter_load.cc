// A snapshot in place of the tables: read beside them, then everything changes at once.
#include "argosy/base/log.h"
#include "argosy/ps/server/snapshotter.h"

namespace argosy::ps {

Result<wire::LoadSnapshotReply> Snapshotter::load_tables(Operation& operation, const wire::LoadSnapshotRequest& request) {
  State* state = host_.state();
  if (state == nullptr) return Status::failed_precondition("server {} has no tables yet", options_.server);
  std::optional<wire::LoadSnapshotReply> done;
  RETURN_IF_ERROR(host_.in_order([&](const State& now) {
    if (const auto* reply = now.loaded(request.id())) done = *reply;
  }));
  if (done) return *done;

  ASSIGN_OR_RETURN(const auto snapshot, table::Snapshot::open(request.folder()));
  operation.set_total(snapshot.count());
  ASSIGN_OR_RETURN(const auto loaded, state->tables().make_empty());
  ReadOptions how{.only = {request.tables().begin(), request.tables().end()}};
  how.on_rows = [&](uint64_t rows) { return operation.progress(rows); };
  auto found = read_tables(snapshot, *loaded, how);
  if (!found.ok()) return found.status().with_context("{}", request.folder());
  wire::LoadSnapshotReply reply;
  wire::StateImage head;
  if (!snapshot.states().empty() && head.ParseFromString(snapshot.states()[0])) reply.set_extra(head.extra());
  for (wire::TableReport& table : found->reports) *reply.add_tables() = std::move(table);

  if (table::RecordLog* log = host_.log()) RETURN_IF_ERROR(log->rotate().status());
  RETURN_IF_ERROR(
      between_changes([&](State& now) { return replace_tables(operation, now, *loaded, found->found, reply); }).status());
  host_.values_changed();
  if (options_.durability != Durability::none) RETURN_IF_ERROR(trim(1));
  return reply;
}

// What is loaded is not in the log: changes wait until a snapshot for recovery holds it. So what was acknowledged before is under
// it, and what is acknowledged later on top of it, whenever this process dies.
Status Snapshotter::replace_tables(Operation& operation, State& state, Tables& loaded, const std::set<size_t>& which,
                                   const wire::LoadSnapshotReply& reply) {
  RETURN_IF_ERROR(operation.alive());
  if (const auto caller = operation.caller()) {
    RETURN_IF_ERROR(state.members().check(caller->worker(), caller->incarnation()));
  }
  RETURN_IF_ERROR(state.tables().adopt(loaded, which));
  if (options_.durability != Durability::none) {
    Moment moment;
    Status status = take(state, moment);
    if (status.ok()) {
      moment.state.head.clear_saved();
      wire::Loaded* one = moment.state.head.add_loaded();
      one->set_id(operation.key.id);
      *one->mutable_reply() = reply;
      status = write_moment(moment);
    }
    if (!status.ok()) {
      moment.tables.reset();
      RETURN_IF_ERROR(state.tables().adopt(loaded, which));  // back
      return status.with_context("what was loaded could not be made safe, and is not used");
    }
  }
  return host_.in_order([&](State& now) {
    now.delta_base().forget();
    now.set_loaded(operation.key.id, reply);
  });
}

}  // namespace argosy::ps
