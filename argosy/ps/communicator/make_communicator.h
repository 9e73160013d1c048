#pragma once

#include <memory>

#include "argosy/base/status.h"
#include "argosy/ps/client/client.h"
#include "argosy/ps/communicator/communicator.h"

namespace argosy::ps {

// The communicator of the job's mode. Refuses options out of range, and in geo mode a rule other than sgd. `client` outlives it.
Result<std::unique_ptr<Communicator>> make_communicator(const CommunicatorOptions& options, Client& client);

}  // namespace argosy::ps
