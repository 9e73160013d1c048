#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "argosy/ps/server/server_limits.h"
#include "argosy/ps/server/server_options.h"
#include "argosy/ps/server/state_holder.h"

namespace argosy::ps {

// Which job a server serves. The first worker, or the server's directory, says what the job is, and its state is made; a worker
// that comes later is compared with it.
//
// Thread-safe, but for adopt(), which is called within the turn of changes, or before the server listens.
class Adoption {
 public:
  Adoption(const ServerOptions& options, std::string name, ServerLimits& limits, StateHolder& state)
      : options_(options), name_(std::move(name)), limits_(limits), state_(state) {}

  // Whether who says this, `caller` in messages, belongs to this server: version, job, number of servers and place among them.
  Status check(const wire::HelloRequest& hello, const std::string& caller) const;
  // Makes the state for the job of the first one, or compares the job with the state's.
  Status adopt(const wire::HelloRequest& hello, const std::string& caller);
  Result<std::unique_ptr<State>> make_state(const JobSpec& spec, const std::string& job) const;

  // First values are being given: nobody is let in.
  bool is_importing() const { return importing_; }
  void set_importing(bool importing) { importing_ = importing; }

 private:
  const ServerOptions& options_;
  const std::string name_;
  ServerLimits& limits_;
  StateHolder& state_;
  std::atomic<bool> importing_ = false;
};

}  // namespace argosy::ps
