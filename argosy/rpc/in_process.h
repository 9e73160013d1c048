#pragma once

#include <memory>
#include <string>

#include "argosy/rpc/channel.h"
#include "argosy/rpc/handler.h"

namespace argosy::rpc {

struct InProcessOptions {
  int threads = 2;  // that run the handler
  std::string name = "in-process";  // what peer() says
};

// A channel to a handler in this process, without a socket: for tests, and for sanitizers, which see all of it. Deadlines,
// cancellation and the copy into an aligned buffer are as over the wire. Owns the threads "rpc-handler" and "rpc-calls".
// The destructor waits for handlers that run; calls that were not begun get `cancelled`.
std::unique_ptr<Channel> connect_in_process(Handler handler, const InProcessOptions& options = {});

}  // namespace argosy::rpc
