#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/address.h"
#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy::rpc {

// Listening sockets, which do not block, at all addresses of a name and one port.
struct Listeners {
  std::vector<Fd> sockets;
  int port = 0;
};
// The first address must work; an error names the address and the system's reason.
Result<Listeners> open_listeners(const Address& endpoint);

// The other end of a connection, as gRPC names it ("ipv4:127.0.0.1:4711"), but without percent signs; and the same of a name
// that has them.
std::string peer_name(const sockaddr_storage& address);
std::string without_percent_signs(std::string_view peer);
// The part of a peer's name before the port: "ipv4:127.0.0.1".
std::string host_of_peer(std::string_view peer);

}  // namespace argosy::rpc
