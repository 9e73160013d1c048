#pragma once

#include <memory>
#include <string>

#include "argosy/base/status.h"
#include "argosy/rpc/channel.h"

namespace argosy::ps {

// How those who only read name a server: "host:port" or "file:/path" (base/endpoint_name.h); one with two processes (replicas=1)
// by both, in any order, with a '+' between them: "10.0.0.1:6170+10.0.0.2:6180".
Status check_server_endpoint(const std::string& endpoint);

// A way to it. To two processes it is a PairChannel, whose calls come to the one that leads.
Result<std::unique_ptr<rpc::Channel>> connect_server(const std::string& endpoint, const rpc::ChannelOptions& options);

}  // namespace argosy::ps
