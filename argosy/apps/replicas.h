#pragma once

#include <memory>

#include "argosy/base/status.h"
#include "argosy/launch/servers/supervisor.h"

namespace argosy::apps {

// The arbiter of a job whose servers have two processes (replicas=1). The launcher of worker 0 decides for all of them: without
// it there is no job. Null: it is another launcher's task, or nobody's.
Result<std::unique_ptr<launch::ReplicaWatch>> watch_replicas(const launch::ServerJob& job);

}  // namespace argosy::apps
