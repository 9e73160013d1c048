// In a build without gRPC.
#include "argosy/launch/collective/meeting_transport.h"

namespace argosy::launch {
namespace {

Status cannot_meet(const Address& address) {
  return Status::unimplemented(
      "this launcher was built without gRPC, by which the launchers of several nodes meet (at {}); start a job of one node, or "
      "build with gRPC (-DARGOSY_SERVERS=ON)",
      address.to_string());
}

}  // namespace

Result<std::unique_ptr<MeetingServer>> serve_meeting(Meeting&, const Address& address) { return cannot_meet(address); }
Result<std::unique_ptr<NodeLink>> join_meeting(const Address& address) { return cannot_meet(address); }

}  // namespace argosy::launch
