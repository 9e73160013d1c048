#pragma once

#include <string>

#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/observers.h"
#include "argosy/ps/server/replication.h"
#include "argosy/ps/server/server_call.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/server/server_run.h"
#include "argosy/ps/server/state_holder.h"

namespace argosy::ps {

// Whose calls a method answers besides those of workers that have compared what this process has (messages.proto: Compare).
enum class Allow {
  workers,       // nobody's
  observers,     // of those who said Hello as observers
  not_compared,  // of other workers too: nothing is read from the tables, and nothing is published
};

// Who may ask a server: workers of its run and job, of their newest incarnations, that have said Hello; observers where they only
// read.
//
// Thread-safe, but for set_lossy(), which comes before the server listens.
class CallAdmission {
 public:
  CallAdmission(std::string name, Durability durability, const RunGuard& run, Observers& observers, StateHolder& state,
                ChangeCounts& counts)
      : name_(std::move(name)), durability_(durability), run_(run), observers_(observers), state_(state), counts_(counts) {}

  // A restart may have lost that workers have come: they go on as they were.
  void set_lossy() { lossy_ = true; }

  // Where the server has two processes; a caller that has met a later epoch ends this one.
  void set_replication(Replication* replication) { replication_ = replication; }

  // The state, if the caller may ask; else the call has been answered.
  State* admit(const CallPtr& call, const wire::Caller& caller, Allow allow);

 private:
  Status check_caller(State& state, const wire::Caller& caller, Allow allow);
  Status readmit(State& state, const wire::Caller& caller);
  Status forgotten(const wire::Caller& caller) const;  // what a worker is told by a server that has lost everything

  const std::string name_;
  const Durability durability_;
  const RunGuard& run_;
  Observers& observers_;
  StateHolder& state_;
  ChangeCounts& counts_;
  Replication* replication_ = nullptr;
  bool lossy_ = false;
};

}  // namespace argosy::ps
