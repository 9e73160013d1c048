#pragma once

#include "argosy/launch/collective/meeting.h"
#include "argosy/rpc/handler.h"

namespace argosy::launch {

// Answers the calls of collective/meeting_wire.h for a meeting, which must outlive it. Thread-safe.
rpc::Handler meeting_handler(Meeting& meeting);

}  // namespace argosy::launch
