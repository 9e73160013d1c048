#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "argosy/ps/client/client_types.h"
#include "argosy/ps/client/session.h"

namespace argosy::ps {

// The rows that other workers have changed since the last call, which geo mode asks for. Each server numbers the answers that it
// has given to this worker: one whose answer got lost, or could not be used here, gives the same rows again.
//
// Confined to one thread at a time.
class ChangedRowsCalls {
 public:
  explicit ChangedRowsCalls(Session& session) : session_(session), answered_(static_cast<size_t>(session.size())) {}

  Status pull(std::span<const int> tables, const ChangedRows& visit, ReadAt* read_at);
  // The servers know this worker as another process now, and number from the beginning.
  void resume() { std::ranges::fill(answered_, 0); }

 private:
  Servers& servers() const { return session_.servers(); }
  const JobSpec& job() const { return session_.spec(); }

  // Asks these servers; returns those that have more.
  Result<std::vector<int>> pull_from(std::span<const int> asked, std::span<const int> tables, const ChangedRows& visit,
                                     ReadAt* read_at);
  Status give(const rpc::Received& received, const wire::PullChangedReply& reply, const ChangedRows& visit) const;

  Session& session_;
  std::vector<uint64_t> answered_;  // by server
};

}  // namespace argosy::ps
