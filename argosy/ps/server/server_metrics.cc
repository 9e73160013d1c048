#include "argosy/ps/server/server_metrics.h"

#include <array>
#include <limits>
#include <map>
#include <utility>

#include "argosy/base/mutex.h"

namespace argosy::ps {
namespace {

constexpr size_t kNormRows = 1024, kNormElements = size_t{1} << 16;  // looked at for each reading
// Two per power of ten, in the labels' own words.
constexpr std::array<std::pair<float, const char*>, 12> kNormBounds = {{{0.001f, "0.001"},
                                                                        {0.003f, "0.003"},
                                                                        {0.01f, "0.01"},
                                                                        {0.03f, "0.03"},
                                                                        {0.1f, "0.1"},
                                                                        {0.3f, "0.3"},
                                                                        {1, "1"},
                                                                        {3, "3"},
                                                                        {10, "10"},
                                                                        {30, "30"},
                                                                        {100, "100"},
                                                                        {std::numeric_limits<float>::infinity(), "inf"}}};

}  // namespace

void ServerMetrics::start(std::function<rpc::RpcServerCounters()> counters, std::function<std::string()> waits_for) {
  counters_ = std::move(counters);
  collection_ = observe::Registry::process().collect([this](observe::Readings& readings) { read(readings); });
  healthy_ = observe::Health::process().add(observe::Health::Kind::healthy, [this] {
    return ending_.is_healthy() ? std::string() : std::string("the server cannot go on; its log says why");
  });
  ready_ = observe::Health::process().add(observe::Health::Kind::ready, [this, waits_for = std::move(waits_for)] {
    if (ending_.is_refusing()) return std::string("the server is ending");
    if (state_) return std::string();
    return waits_for ? waits_for() : std::string("no worker has said yet what the job is");
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
  read_staleness(readings, *state_);
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
  readings.counter("argosy_server_snapshot_failures_total",
                   "Tries to cut a snapshot for recovery that failed; the log says why, and grows.",
                   static_cast<double>(snapshotter_.failures()), labels_);
  readings.counter(
      "argosy_server_log_refused_total",
      "Changes that the log did not take, because its disk is full or hangs; nothing of them is acknowledged, and who "
      "sent them tries again.",
      static_cast<double>(changes_.counts().refused_by_log), labels_);
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
      read_norms(readings, labels, state.tables().sparse(i).sample_norms(kNormRows));
    } else if (const table::DenseTable* dense = state.tables().dense(i)) {
      memory = static_cast<double>(dense->memory_bytes());
      if (const auto norm = dense->norm(kNormElements))
        readings.gauge("argosy_server_table_norm", "Euclidean norm: of a dense part, or the mean of a sparse table's rows.",
                       *norm, labels);
    }
    readings.gauge("argosy_server_table_memory_bytes", "Memory of a table.", memory, labels);
    readings.counter("argosy_server_nonfinite_total", "Gradients of a table that were NaN or infinite: rows, or dense parts.",
                     static_cast<double>(state.tables().nonfinite(i)), labels);
  }
}

// Dense parameters are read together and pushed together: the first of them speaks for all.
void ServerMetrics::read_staleness(observe::Readings& readings, const State& state) const {
  bool dense_told = false;
  for (size_t i = 0; i < state.tables().size(); ++i) {
    const TableStaleness::Counts counts = staleness_.of(i);
    const bool sparse = state.tables().is_sparse(i);
    if (counts.total() == 0 || (!sparse && std::exchange(dense_told, true))) continue;
    const observe::Labels labels = sparse ? with("table", state.spec().tables[i].name) : with("parameters", "dense");
    for (size_t bucket = 0; bucket < kStalenessCounts; ++bucket) {
      if (counts.pushes[bucket] == 0) continue;
      observe::Labels bounded = labels;
      bounded.emplace_back("staleness_up_to",
                           bucket < kStalenessBounds.size() ? std::to_string(kStalenessBounds[bucket]) : "inf");
      readings.counter("argosy_server_pushes_by_staleness_total",
                       "Pushes of a sparse table, or of dense parameters, by how many batches (sync: steps) were applied between "
                       "reading and pushing: at most this and more than the bound before.",
                       static_cast<double>(counts.pushes[bucket]), std::move(bounded));
    }
    readings.counter("argosy_server_staleness_batches_total", "The sum of these batches, over the pushes.",
                     static_cast<double>(counts.sum), labels);
  }
}

// A NaN is in no bucket but the last.
void ServerMetrics::read_norms(observe::Readings& readings, const observe::Labels& labels, const std::vector<float>& norms) {
  if (norms.empty()) return;
  std::array<double, kNormBounds.size()> counts{};
  double sum = 0;
  for (const float norm : norms) {
    size_t bucket = 0;
    while (bucket + 1 < kNormBounds.size() && !(norm <= kNormBounds[bucket].first)) ++bucket;
    ++counts[bucket];
    sum += norm;
  }
  readings.gauge("argosy_server_table_norm", "Euclidean norm: of a dense part, or the mean of a sparse table's rows.",
                 sum / static_cast<double>(norms.size()), labels);
  for (size_t i = 0; i < counts.size(); ++i) {
    observe::Labels bucket = labels;
    bucket.emplace_back("norm_up_to", kNormBounds[i].second);
    readings.gauge("argosy_server_table_rows_by_norm",
                   "Of about a thousand rows, those whose norm is at most this and more than the bound before.", counts[i],
                   std::move(bucket));
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
