#pragma once

#include "argosy/observe/metrics.h"
#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/pass_reports.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/ps/server/server_limits.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/server/table_staleness.h"

namespace argosy::ps {

// What a server answers in every step of a worker: pushes, pulls, the two-phase steps of sync mode, the ends of rounds.
//
// Thread-safe.
class TrainingHandlers {
 public:
  TrainingHandlers(const ServerOptions& options, Changes& changes, Parking& parking, ServerLimits& limits,
                   const PassReports& reports, TableStaleness& staleness)
      : options_(options), changes_(changes), parking_(parking), limits_(limits), reports_(reports), staleness_(staleness) {}

  void push(const CallPtr& call, State& state, const wire::PushRequest& request);
  void leave(const CallPtr& call, State& state, const wire::LeaveRequest& request);
  void abandon(const CallPtr& call, State& state, const wire::AbandonRequest& request);
  void ledger(const CallPtr& call, State& state, const wire::LedgerRequest& request);
  void step_norms(const CallPtr& call, State& state, const wire::StepNormsRequest& request);
  void apply_step(const CallPtr& call, State& state, const wire::ApplyStepRequest& request);
  void pull_dense(const CallPtr& call, State& state, const wire::PullDenseRequest& request);
  void pull_rows(const CallPtr& call, State& state, const wire::PullRowsRequest& request);
  void pull_changed(const CallPtr& call, State& state, const wire::PullChangedRequest& request);

 private:
  // Whether what is here of these workers can change no more.
  static Status check_settled(State& state, const google::protobuf::RepeatedField<uint32_t>& lost);
  // Whether the position is reached; if not, the call waits for it, or has been answered.
  bool reached(const CallPtr& call, State& state, const wire::Caller& caller, bool has_min_step, Position min_step);

  const ServerOptions& options_;
  Changes& changes_;
  Parking& parking_;
  ServerLimits& limits_;
  const PassReports& reports_;
  TableStaleness& staleness_;
  observe::Counter& pulls_ =
      observe::Registry::process().counter("argosy_server_pulls_total", "Pulls of dense parameters and of rows answered.",
                                           {{"server", std::to_string(options_.server)}});
  observe::Histogram& push_seconds_ =
      observe::Registry::process().histogram("argosy_server_push_seconds", "One push, from its arrival to its answer.",
                                             observe::seconds_bounds(), {{"server", std::to_string(options_.server)}});
};

}  // namespace argosy::ps
