#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/ps/server/changes.h"
#include "argosy/ps/server/ending.h"
#include "argosy/ps/server/parking.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/server/state_holder.h"

namespace argosy::ps {

// Scripts save in this worker: no job shrinks by it, because it would end well without what it should save.
inline constexpr int kSavingWorker = 0;

// "worker 1 (host:4711), silent for 12.3 s; worker 2, which never came", for messages.
std::string list_workers(const Membership& members, const std::vector<int>& workers);

// Watches whether workers are alive, says who is not, goes on without them where on_worker_loss is shrink, and ends the server
// when nobody is left who could come back.
//
// Thread-compatible: one thread calls look() from time to time.
class Leases {
 public:
  // `lost`: what else is due when workers were given up.
  Leases(const ServerOptions& options, StateHolder& state, Changes& changes, Parking& parking, Ending& ending,
         std::function<void(State&)> lost)
      : options_(options), state_(state), changes_(changes), parking_(parking), ending_(ending), lost_(std::move(lost)) {}

  // `paused`: seconds since the last look. A process that did not run did not hear anybody either.
  void look(double paused);

 private:
  void watch(State& state);
  void give_up();
  void lose(State& state, const std::vector<int>& workers);

  const ServerOptions& options_;
  StateHolder& state_;
  Changes& changes_;
  Parking& parking_;
  Ending& ending_;
  const std::function<void(State&)> lost_;
  const Stopwatch since_start_;
  std::set<int> reported_silent_;  // workers whose silence was logged
};

}  // namespace argosy::ps
