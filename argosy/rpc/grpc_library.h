#pragma once

namespace argosy::rpc {

// Keeps gRPC's library up from the first call to the end of the process. Otherwise it goes down with its last object, and waits
// for its own threads then: in 1.51 now and then for one that sleeps on and on, so that a server which has served hangs.
// Thread-safe.
void keep_grpc();

}  // namespace argosy::rpc
