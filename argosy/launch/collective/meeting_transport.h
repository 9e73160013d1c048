#pragma once

#include <memory>

#include "argosy/base/address.h"
#include "argosy/base/status.h"
#include "argosy/launch/collective/meeting.h"

// How the launchers of several nodes reach each other: by argosy/rpc, with the job's token and TLS where the settings of this
// process name them (base/settings.h). A launcher that was built without gRPC can run jobs of one node only; the others are an
// error that says so.
namespace argosy::launch {

// Lets the launchers of other nodes come to a meeting. The destructor closes the meeting, and then the address.
class MeetingServer {
 public:
  virtual ~MeetingServer() = default;
};

// `already_exists` where somebody has the address. The meeting must outlive the result.
Result<std::unique_ptr<MeetingServer>> serve_meeting(Meeting& meeting, const Address& address);

// A line to the meeting at this address, which may be lost later on: see NodeLink::broken().
Result<std::unique_ptr<NodeLink>> join_meeting(const Address& address);

}  // namespace argosy::launch
