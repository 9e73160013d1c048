#pragma once

#include <grpcpp/support/channel_arguments.h>

#include <string>

#include "argosy/rpc/door_pass.h"

namespace argosy::rpc {

// Makes gRPC's client greet a server's door with the pass of this token on every connection; for TCP only, since a Unix socket
// has no door.
inline void greet(grpc::ChannelArguments& arguments, const std::string& token) {
  // gRPC sends a CONNECT request to a proxy that these name; the headers stay away where they are empty.
  arguments.SetString("grpc.http_connect_server", kGreetedServer);
  if (!token.empty()) arguments.SetString("grpc.http_connect_headers", greeting_headers(door_pass(token)));
}

}  // namespace argosy::rpc
