#include "argosy/ps/server/stats_handler.h"

#include "argosy/base/mutex.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

constexpr uint64_t kWaitingKeyBytes = 48;  // key, counters, and the hash map's room for growth

}  // namespace

void StatsHandler::watch_waiting_keys(const State& state) {
  const Tables& tables = state.tables();
  uint64_t keys = 0;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables.is_sparse(i) && tables.sparse(i).keeps_waiting()) keys += tables.sparse(i).size().waiting;
  }
  limits_.waiting_keys.set_now(keys * kWaitingKeyBytes);
}

void StatsHandler::stats(const CallPtr& call, State& state, const wire::StatsRequest&) {
  wire::StatsReply reply;
  *reply.mutable_position() = to_wire(state.position());
  reply.set_batches(state.batches());
  reply.set_pushes(state.pushes());
  reply.set_duplicates(changes_.counts().duplicates);
  reply.set_log_bytes(changes_.journal() == nullptr ? 0 : static_cast<uint64_t>(changes_.journal()->log().bytes()));
  reply.set_snapshots(snapshotter_.snapshots());
  reply.set_last_pause_seconds(snapshotter_.last_pause_seconds());
  const rpc::RpcServerCounters counters = counters_ ? counters_() : rpc::RpcServerCounters();
  reply.set_bytes_in(counters.bytes_in);
  reply.set_bytes_out(counters.bytes_out);
  for (size_t i = 0; i < state.tables().size(); ++i) {
    wire::StatsReply::Table* table = reply.add_tables();
    table->set_name(state.spec().tables[i].name);
    table->set_rate(state.tables().rate(i, state.rate_step()));
    table->set_nonfinite(state.tables().nonfinite(i));
    const TableStaleness::Counts staleness = staleness_.of(i);
    if (staleness.total() > 0) table->mutable_staleness()->Add(staleness.pushes.begin(), staleness.pushes.end());
    table->set_staleness_sum(staleness.sum);
    if (state.tables().is_sparse(i)) {
      const table::TableSize size = state.tables().sparse(i).size();
      table->set_rows(size.rows);
      table->set_cold_rows(size.cold_rows);
      table->set_memory_bytes(size.memory_bytes);
    } else if (const table::DenseTable* dense = state.tables().dense(i)) {
      table->set_memory_bytes(dense->memory_bytes());
    }
  }
  for (int i = 0; i < state.members().workers(); ++i) {
    const Membership::Worker worker = state.members().worker(i);
    wire::StatsReply::Worker* out = reply.add_workers();
    out->set_incarnation(worker.incarnation);
    out->set_state(std::string(phase_name(worker.phase)));
    out->set_silent_seconds(state.members().silent_seconds(i));
    *out->mutable_window() = to_wire(worker.window);
    out->set_given_up(worker.given_up.size());
  }
  reply.set_version(state.version());
  add_followers_(reply);
  add_limits(state, reply);
  call->send(outgoing(reply));
}

void StatsHandler::add_limits(State& state, wire::StatsReply& reply) {
  {
    MutexLock lock(state.mutex());
    state.measure();
  }
  const auto add = [&](std::string_view name, uint64_t now, uint64_t most, uint64_t refused) {
    wire::StatsReply::Limit* row = reply.add_limits();
    row->set_name(std::string(name));
    row->set_now(now);
    row->set_most(most);
    row->set_refused(refused);
  };
  for (const Limit* limit : limits_.all()) add(limit->name(), limit->now(), limit->most(), limit->refused());
  for (const rpc::LimitCount& count : counters_ ? counters_().limits : std::vector<rpc::LimitCount>()) {
    add(count.name, count.now, count.most, count.refused);
  }
}

}  // namespace argosy::ps
