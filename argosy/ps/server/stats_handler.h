#pragma once

#include <functional>

#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/ps/server/server_limits.h"
#include "argosy/ps/server/snapshotter.h"
#include "argosy/ps/server/table_staleness.h"
#include "argosy/rpc/rpc_server.h"

namespace argosy::ps {

// What a server tells of itself: tables, workers, the log, and every limit with its count.
//
// Thread-safe, but for the set_…(), which come before the first call.
class StatsHandler {
 public:
  StatsHandler(Changes& changes, ServerLimits& limits, const Snapshotter& snapshotter, const TableStaleness& staleness)
      : changes_(changes), limits_(limits), snapshotter_(snapshotter), staleness_(staleness) {}

  // Those of the port.
  void set_counters(std::function<rpc::RpcServerCounters()> counters) { counters_ = std::move(counters); }

  // What a server that is followed, or follows, says besides.
  void set_followers(std::function<void(wire::StatsReply&)> add) { add_followers_ = std::move(add); }

  void stats(const CallPtr& call, State& state, const wire::StatsRequest& request);
  // Keys that are counted and not admitted yet take memory for as long as nobody shrinks their table: pushes are refused beyond a
  // limit. To be called from time to time.
  void watch_waiting_keys(const State& state);

 private:
  void add_limits(State& state, wire::StatsReply& reply);

  Changes& changes_;
  ServerLimits& limits_;
  const Snapshotter& snapshotter_;
  const TableStaleness& staleness_;
  std::function<rpc::RpcServerCounters()> counters_;
  std::function<void(wire::StatsReply&)> add_followers_ = [](wire::StatsReply&) {};
};

}  // namespace argosy::ps
