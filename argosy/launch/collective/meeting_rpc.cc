#include "argosy/base/address.h"
#include "argosy/base/settings.h"
#include "argosy/launch/collective/meeting_handler.h"
#include "argosy/launch/collective/meeting_transport.h"
#include "argosy/launch/collective/meeting_wire.h"
#include "argosy/launch/collective/remote_link.h"
#include "argosy/rpc/channel.h"
#include "argosy/rpc/rpc_server.h"
#include "argosy/rpc/security_settings.h"

namespace argosy::launch {
namespace {

constexpr double kStopSeconds = 1;

class RpcMeetingServer : public MeetingServer {
 public:
  RpcMeetingServer(Meeting& meeting, std::unique_ptr<rpc::RpcServer> server) : meeting_(meeting), server_(std::move(server)) {}
  ~RpcMeetingServer() override {
    meeting_.close();
    server_->stop(Deadline::after_seconds(kStopSeconds));
  }

 private:
  Meeting& meeting_;
  std::unique_ptr<rpc::RpcServer> server_;
};

}  // namespace

Result<std::unique_ptr<MeetingServer>> serve_meeting(Meeting& meeting, const Address& address) {
  ASSIGN_OR_RETURN(const Settings settings, Settings::from_environment());
  const rpc::RpcServerOptions options{.address = address.to_string(),
                                      .security = rpc::security_of(settings),
                                      .max_message_bytes = kMostMeetingBytes,
                                      .unix_socket = false};
  auto server = rpc::RpcServer::start(options, meeting_handler(meeting));
  if (!server.ok() && is_port_in_use(address)) return Status(Code::already_exists, server.status().message());
  if (!server.ok()) return server.status();
  return std::unique_ptr<MeetingServer>(std::make_unique<RpcMeetingServer>(meeting, std::move(*server)));
}

Result<std::unique_ptr<NodeLink>> join_meeting(const Address& address) {
  ASSIGN_OR_RETURN(const Settings settings, Settings::from_environment());
  const rpc::ChannelOptions options{
      .security = rpc::security_of(settings), .max_message_bytes = kMostMeetingBytes, .unix_socket = false};
  ASSIGN_OR_RETURN(auto channel, rpc::connect_channel(address.to_string(), options));
  return std::unique_ptr<NodeLink>(std::make_unique<RemoteLink>(std::move(channel)));
}

}  // namespace argosy::launch
