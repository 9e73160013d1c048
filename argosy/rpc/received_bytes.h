#pragma once

#include <cstdint>

#include "argosy/base/fd.h"

namespace argosy::rpc {

// That have arrived over a TCP connection in its life, whether they have been read or not; 0 where the system does not say.
uint64_t received_bytes(const Fd& connection);

}  // namespace argosy::rpc
