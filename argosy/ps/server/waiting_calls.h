#pragma once

#include <functional>
#include <string>
#include <vector>

#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/state/state.h"

namespace argosy::ps {

// Answers parked calls that cannot or may not wait any longer: their time is over, or somebody that they wait for is lost. Who is
// missing is in the answer.
//
// Thread-safe.
class WaitingCalls {
 public:
  // The workers whose batches a Compare waits for.
  using MissingBatches = std::function<std::vector<int>(const State& state, const wire::CompareRequest& request)>;

  // `name`: of the server.
  WaitingCalls(const ServerOptions& options, std::string name, Parking& parking, MissingBatches missing_batches)
      : options_(options), name_(std::move(name)), parking_(parking), missing_batches_(std::move(missing_batches)) {}

  void answer_due(State& state);

 private:
  std::vector<int> missing_for(State& state, Topic topic, const Call& call);
  Status timed_out(State& state, Topic topic, const Call& call, const std::vector<int>& missing) const;

  const ServerOptions& options_;
  const std::string name_;
  Parking& parking_;
  const MissingBatches missing_batches_;
};

}  // namespace argosy::ps
