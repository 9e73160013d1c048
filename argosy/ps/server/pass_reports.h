#pragma once

#include <cstdint>

#include "argosy/ps/spec/nonfinite_policy.h"
#include "argosy/ps/state/state.h"

namespace argosy::ps {

// The lines that say what became of the data: of a pass once its last worker has left it, and of the job at its end.
//
// Thread-compatible: within the turn of changes, but for what is marked.
class PassReports {
 public:
  // Of passes only server 0 speaks: all of them would say the same.
  explicit PassReports(bool speaks) : speaks_(speaks) {}

  void report_pass(const State& state, uint32_t round) const;
  // The job is over; said once, until another worker comes. Each server says how many gradients it has left out or replaced.
  void report_job(State& state, Nonfinite policy);
  void worker_came() { reported_ = false; }

  // What a server knows of all workers' passes. Any thread.
  static wire::LedgerReply ledger_of(State& state);

 private:
  const bool speaks_;
  bool reported_ = false;
};

}  // namespace argosy::ps
