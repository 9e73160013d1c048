#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "argosy/ps/server/adoption.h"
#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/ending.h"
#include "argosy/ps/server/observers.h"
#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/pass_reports.h"
#include "argosy/ps/server/replication.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/server/server_run.h"
#include "argosy/ps/server/state_holder.h"

namespace argosy::ps {

// Who the workers are to a server: they come, beat, compare, settle what lost ones have left, and go.
//
// Thread-safe.
class WorkerHandlers {
 public:
  // What it is given; all of it outlives this.
  struct Uses {
    const ServerOptions& options;
    StateHolder& state;
    Changes& changes;
    Parking& parking;
    Ending& ending;
    RunGuard& run;
    Observers& observers;
    Adoption& adoption;
    PassReports& reports;
    const Replication* replication;  // null: the server is one process
  };
  // `name` and `boot` are the server's.
  WorkerHandlers(const Uses& uses, std::string name, uint64_t boot)
      : options_(uses.options),
        state_(uses.state),
        changes_(uses.changes),
        parking_(uses.parking),
        ending_(uses.ending),
        run_(uses.run),
        observers_(uses.observers),
        adoption_(uses.adoption),
        reports_(uses.reports),
        replication_(uses.replication),
        name_(std::move(name)),
        boot_(boot) {}

  void hello(const CallPtr& call, wire::HelloRequest& request);
  void heartbeat(const CallPtr& call, State& state, const wire::HeartbeatRequest& request);
  void goodbye(const CallPtr& call, State& state, const wire::GoodbyeRequest& request);
  void settle_loss(const CallPtr& call, State& state, const wire::SettleLossRequest& request);
  void compare(const CallPtr& call, State& state, const wire::CompareRequest& request);

  // The server has nothing to wait for any more where all workers are done: says what the job came to. Within the turn of
  // changes.
  void end_if_done(State& state);
  // The workers whose batches, of those that a Compare expects, are missing here. An error: nobody is left who could send them
  // again.
  Status check_expected(const State& state, const wire::CompareRequest& request, std::vector<int>& missing) const;

 private:
  void observer(const CallPtr& call, const wire::HelloRequest& hello, const std::string& caller);
  void add_unsettled(State& state, wire::HeartbeatReply& reply);
  Status settle(const CallPtr& call, State& state, const wire::SettleLossRequest& request, wire::SettleLossReply& reply);

  const ServerOptions& options_;
  StateHolder& state_;
  Changes& changes_;
  Parking& parking_;
  Ending& ending_;
  RunGuard& run_;
  Observers& observers_;
  Adoption& adoption_;
  PassReports& reports_;
  const Replication* const replication_;
  const std::string name_;
  const uint64_t boot_;  // of the process
};

}  // namespace argosy::ps
