#pragma once

#include <memory>

#include "argosy/fleet/remote_worker.h"

namespace argosy::fleet {

// When the process ends by exit() or by the end of main(), a worker that is still connected leaves its job: with status 0 as by
// stop_worker(), what was learned reaching the servers, within a minute; with another status the servers are told of it, and do
// what on_worker_loss says. Where it cannot leave well, because a pass was not finished or the servers lack batches of it, a
// status of 0 becomes 1. Safe to call twice for one worker. Thread-safe.
void leave_at_exit(std::shared_ptr<RemoteWorker> worker);

}  // namespace argosy::fleet
