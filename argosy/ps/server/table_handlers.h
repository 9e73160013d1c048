#pragma once

#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/exports.h"
#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/ps/server/server_limits.h"

namespace argosy::ps {

// What a server answers about its tables as a whole: first values, imports and exports, single states of rules, rates, shrinking.
//
// Thread-safe.
class TableHandlers {
 public:
  TableHandlers(Changes& changes, Parking& parking, ServerLimits& limits, Exports& exports)
      : changes_(changes), parking_(parking), limits_(limits), exports_(exports) {}

  void init_dense(const CallPtr& call, State& state, const wire::InitDenseRequest& request);
  void wait_initialised(const CallPtr& call, State& state, const wire::WaitInitialisedRequest& request);
  void import_rows(const CallPtr& call, State& state, const wire::ImportRowsRequest& request);
  void import_dense(const CallPtr& call, State& state, const wire::ImportDenseRequest& request);
  void import_state(const CallPtr& call, State& state, const wire::ImportStateRequest& request);
  void pull_state(const CallPtr& call, State& state, const wire::PullStateRequest& request);
  void set_rate(const CallPtr& call, State& state, const wire::SetRateRequest& request);
  void shrink(const CallPtr& call, State& state, const wire::ShrinkRequest& request);
  void export_rows(const CallPtr& call, State& state, const wire::ExportRowsRequest& request);

 private:
  Status send_state(State& state, const wire::PullStateRequest& request, const CallPtr& call);

  Changes& changes_;
  Parking& parking_;
  ServerLimits& limits_;
  Exports& exports_;
};

}  // namespace argosy::ps
