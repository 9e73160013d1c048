#pragma once

#include <optional>
#include <span>
#include <vector>

#include "argosy/ps/client/client_types.h"
#include "argosy/ps/client/comparison.h"
#include "argosy/ps/client/session.h"
#include "argosy/ps/spec/ledger.h"

namespace argosy::ps {

// How a client goes from step to step and from pass to pass with the other workers: the two phases of a sync step, where all
// are, and the ends of passes. Client has the contracts.
//
// Thread-safe.
class RoundCalls {
 public:
  RoundCalls(Session& session, Comparison& comparison) : session_(session), comparison_(comparison) {}

  Result<std::optional<std::vector<StepNorm>>> step_norms(Position step, Deadline deadline);
  Status apply_step(Position step, std::span<const ClipFactor> factors);
  Result<Position> position();  // the lowest of all servers
  Result<PassLoss> leave(uint32_t round, uint32_t steps, const PassReading* reading);

 private:
  Status leave(uint32_t round, uint32_t steps, const PassReading* reading, std::span<const int> whom, PassLoss& most);

  Servers& servers() const { return session_.servers(); }
  const JobSpec& job() const { return session_.spec(); }

  Session& session_;
  Comparison& comparison_;
};

}  // namespace argosy::ps
