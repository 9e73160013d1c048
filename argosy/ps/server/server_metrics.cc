#include "argosy/ps/server/server_metrics.h"

#include <map>

#include "argosy/base/mutex.h"

namespace argosy::ps {

void ServerMetrics::start(std::function<rpc::RpcServerCounters()> counters) {
  counters_ = std::move(counters);
  collection_ = observe::Registry::process().collect([this](observe::Readings& readings) { read(readings); });
  healthy_ = observe::Health::process().add(observe::Health::Kind::healthy, [this] {
    return ending_.is_healthy() ? std::string() : std::string("the server cannot go on; its log says why");
  });
  ready_ = observe::Health::process().add(observe::Health::Kind::ready, [this] {
    if (ending_.is_refusing()) return std::string("the server is ending");
    return state_ ? std::string() : std::string("no worker has said yet what the job is");
  });
}

void ServerMetrics::stop() {
  collection_.end();
  healthy_.end();
  ready_.end();
}

observe::Labels ServerMetrics::with(std::string name, std::string value) const {
  observe::Labels labels = labels_;
  labels.emplace_back(std::move(name), std::move(value));
  return labels;
}

void ServerMetrics::read(observe::Readings& readings) const {
  const rpc::RpcServerCounters counters = counters_ ? counters_() : rpc::RpcServerCounters();
  readings.counter("argosy_server_received_bytes_total", "Bytes that came over the network.",
                   static_cast<double>(counters.bytes_in), labels_);
  readings.counter("argosy_server_sent_bytes_total", "Bytes that went over the network.", static_cast<double>(counters.bytes_out),
                   labels_);
  read_storage(readings);
  if (!state_) return;
  read_training(readings);
  read_tables(readings, *state_);
  read_workers(readings, *state_);
  read_limits(readings, counters);
}

void ServerMetrics::read_training(observe::Readings& readings) const {
  readings.counter("argosy_server_pushes_total", "Pushes applied.", static_cast<double>(state_->pushes()), labels_);
  readings.counter("argosy_server_batches_total", "Batches of all workers in these pushes.",
                   static_cast<double>(state_->batches()), labels_);
  readings.counter("argosy_server_duplicates_total", "Pushes that were answered as duplicates and changed nothing.",
                   static_cast<double>(changes_.counts().duplicates), labels_);
}

void ServerMetrics::read_storage(observe::Readings& readings) const {
  Journal* const journal = changes_.journal();
  readings.gauge("argosy_server_log_bytes", "Bytes of the log that recovery would read.",
                 journal == nullptr ? 0 : static_cast<double>(journal->log().bytes()), labels_);
  readings.counter("argosy_server_snapshots_total", "Snapshots for recovery that this process has cut.",
                   static_cast<double>(snapshotter_.snapshots()), labels_);
  if (snapshotter_.snapshots() == 0) return;
  readings.gauge("argosy_server_snapshot_age_seconds", "Since the last snapshot for recovery was cut.",
                 snapshotter_.age_seconds(), labels_);
  readings.gauge("argosy_server_snapshot_duration_seconds", "How long the last one took.", snapshotter_.last_duration_seconds(),
                 labels_);
  readings.gauge("argosy_server_snapshot_pause_seconds", "How long pushes waited for it.", snapshotter_.last_pause_seconds(),
                 labels_);
}

void ServerMetrics::read_tables(observe::Readings& readings, const State& state) const {
  for (size_t i = 0; i < state.tables().size(); ++i) {
    const observe::Labels labels = with("table", state.spec().tables[i].name);
    double memory = 0;
    if (state.tables().is_sparse(i)) {
      const table::TableSize size = state.tables().sparse(i).size();
      readings.gauge("argosy_server_table_rows", "Rows of a sparse table.", static_cast<double>(size.rows), labels);
      readings.gauge("argosy_server_table_cold_rows", "Of these, rows on the disk.", static_cast<double>(size.cold_rows), labels);
      memory = static_cast<double>(size.memory_bytes);
    } else if (const table::DenseTable* dense = state.tables().dense(i)) {
      memory = static_cast<double>(dense->memory_bytes());
    }
    readings.gauge("argosy_server_table_memory_bytes", "Memory of a table.", memory, labels);
    readings.counter("argosy_server_nonfinite_total", "Gradients of a table that were NaN or infinite: rows, or dense parts.",
                     static_cast<double>(state.tables().nonfinite(i)), labels);
  }
}

void ServerMetrics::read_workers(observe::Readings& readings, const State& state) const {
  std::map<std::string, int> by_state = {{"not seen", 0}, {"live", 0}, {"lost", 0}, {"done", 0}};
  double given_up = 0;
  for (int i = 0; i < state.members().workers(); ++i) {
    const Membership::Worker worker = state.members().worker(i);
    ++by_state[std::string(phase_name(worker.phase))];
    given_up += static_cast<double>(worker.given_up.size());
  }
  for (const auto& [name, count] : by_state)
    readings.gauge("argosy_server_workers", "Workers of the job, by what this server knows of them.", count, with("state", name));
  readings.counter("argosy_server_given_up_batches_total", "Batches that were dropped because their worker was lost.", given_up,
                   labels_);
}

void ServerMetrics::read_limits(observe::Readings& readings, const rpc::RpcServerCounters& counters) const {
  {
    MutexLock lock(state_->mutex());
    state_->measure();
  }
  const auto add = [&](std::string_view name, uint64_t now, uint64_t most, uint64_t refused) {
    const observe::Labels labels = with("limit", std::string(name));
    readings.gauge("argosy_server_limit_used", "What is held now of a thing that is limited (docs/limits.md).",
                   static_cast<double>(now), labels);
    readings.gauge("argosy_server_limit_most", "Its limit; 0: it is only counted.", static_cast<double>(most), labels);
    readings.counter("argosy_server_limit_refused_total", "Requests that were refused because of it.",
                     static_cast<double>(refused), labels);
  };
  for (const Limit* limit : limits_.all()) add(limit->name(), limit->now(), limit->most(), limit->refused());
  for (const rpc::LimitCount& count : counters.limits) add(count.name, count.now, count.most, count.refused);
}

}  // namespace argosy::ps
