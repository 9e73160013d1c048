#pragma once

#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/server_call.h"

namespace argosy::ps {

// What a server answers for workers among each other: barriers and gathers, files that are handed out, mailboxes; and which
// operations of workers are done (operations.h).
//
// Thread-safe.
class ExchangeHandlers {
 public:
  ExchangeHandlers(Changes& changes, Parking& parking) : changes_(changes), parking_(parking) {}

  void gather(const CallPtr& call, State& state, const wire::GatherRequest& request);
  void next_file(const CallPtr& call, State& state, const wire::NextFileRequest& request);
  void post(const CallPtr& call, State& state, const wire::PostRequest& request);
  void take(const CallPtr& call, State& state, const wire::TakeRequest& request);
  void begin_operation(const CallPtr& call, State& state, const wire::BeginOperationRequest& request);
  void end_operation(const CallPtr& call, State& state, const wire::EndOperationRequest& request);

 private:
  Changes& changes_;
  Parking& parking_;
};

}  // namespace argosy::ps
