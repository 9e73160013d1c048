#pragma once

#include <string>
#include <vector>

#include "argosy/base/address.h"
#include "argosy/base/clock.h"
#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy {

// TCP sockets. They are not inherited by other programs. Errors name the address and the system's reason.

// Listens at this address alone, not at every one of the machine; port 0 takes a free one. `already_exists` where somebody else
// does. The socket does not block.
Result<Fd> listen_at(const Address& address);

// Connects within the deadline; from the address `own_host` where that is not empty. The socket does not block.
Result<Fd> connect_to(const Address& address, const std::string& own_host, Deadline deadline);

// The address at this end of a socket.
Result<Address> local_address(const Fd& socket);

// Ports of this machine's address `host` on which nobody listens now, all different; where it can, from those that the system
// does not give to outgoing connections, so that none of these takes one before its user does.
Result<std::vector<int>> free_ports(const std::string& host, int count);

}  // namespace argosy
