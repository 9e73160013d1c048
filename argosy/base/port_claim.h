#pragma once

#include "argosy/base/address.h"
#include "argosy/base/fd.h"
#include "argosy/base/status.h"

namespace argosy {

// The right to listen at an address of this machine, among all who ask for it this way: launchers, which have it from the choice
// of a port until the job's end, whether or not a process listens there at the moment; and servers that no launcher started.
//
// It is the name of a Unix socket in the abstract namespace. The kernel gives a name to one socket, of whatever user, takes it
// back when the process ends in whatever way, and keeps names apart by network namespace as it does ports. So there is no file to
// be left behind, not to be allowed to open, or not to be shared by two containers that share a network.
//
// Movable. Thread-compatible.
class PortClaim {
 public:
  // `already_exists` where somebody has it. A host that cannot be looked up is claimed by its name.
  static Result<PortClaim> take(const Address& address);

 private:
  explicit PortClaim(Fd socket) : socket_(std::move(socket)) {}

  Fd socket_;
};

}  // namespace argosy
