// In a build without gRPC.
#include "argosy/rpc/channel.h"

namespace argosy::rpc {

Result<std::unique_ptr<Channel>> connect_channel(const std::string& endpoint, const ChannelOptions&) {
  return Status::unimplemented("'{}' cannot be reached: this build has no gRPC; build it with -DARGOSY_SERVERS=ON", endpoint);
}

}  // namespace argosy::rpc
