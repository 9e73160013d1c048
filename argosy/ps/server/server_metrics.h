#pragma once

#include <functional>
#include <string>

#include "argosy/observe/health.h"
#include "argosy/observe/metrics.h"
#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/server_limits.h"
#include "argosy/ps/server/snapshotter.h"
#include "argosy/ps/server/table_staleness.h"
#include "argosy/rpc/rpc_server.h"

namespace argosy::ps {

// Shows a server's numbers and its health to who observes the process (argosy/observe): what Stats answers, read at the moment
// when somebody asks.
//
// Thread-safe. Sees the parts of the server, which outlive it.
class ServerMetrics {
 public:
  ServerMetrics(int server, StateHolder& state, Changes& changes, ServerLimits& limits, const Snapshotter& snapshotter,
                const Ending& ending, const TableStaleness& staleness)
      : labels_{{"server", std::to_string(server)}},
        state_(state),
        changes_(changes),
        limits_(limits),
        snapshotter_(snapshotter),
        ending_(ending),
        staleness_(staleness) {}

  // From now on, until stop(). `counters`: those of the port. `waits_for`: of a follower, why it does not answer yet where it has
  // no state to answer from; empty: a server, which waits for a worker.
  void start(std::function<rpc::RpcServerCounters()> counters, std::function<std::string()> waits_for = {});
  void stop();  // waits for a reading under way; safe to call twice

 private:
  void read(observe::Readings& readings) const;
  void read_training(observe::Readings& readings) const;
  void read_storage(observe::Readings& readings) const;
  void read_tables(observe::Readings& readings, const State& state) const;
  static void read_norms(observe::Readings& readings, const observe::Labels& labels, const std::vector<float>& norms);
  void read_staleness(observe::Readings& readings, const State& state) const;
  void read_workers(observe::Readings& readings, const State& state) const;
  void read_limits(observe::Readings& readings, const rpc::RpcServerCounters& counters) const;
  observe::Labels with(std::string name, std::string value) const;

  const observe::Labels labels_;
  StateHolder& state_;
  Changes& changes_;
  ServerLimits& limits_;
  const Snapshotter& snapshotter_;
  const Ending& ending_;
  const TableStaleness& staleness_;
  std::function<rpc::RpcServerCounters()> counters_;
  observe::Registry::Collection collection_;
  observe::Health::Registration healthy_, ready_;
};

}  // namespace argosy::ps
