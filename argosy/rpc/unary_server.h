#pragma once

#include <memory>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"
#include "argosy/rpc/unary_method.h"

namespace argosy::rpc {

// A server of plain gRPC for callers that are none of a job's: any gRPC library calls it, with one message to and one back. No
// token, no TLS. (The job's own calls are RpcServer's.)
//
// Owns the threads "rpc-unary", as many as calls may be under way, and "rpc-status". Thread-safe.
class UnaryServer {
 public:
  // Fails where the address is not this machine's or is in use; the message names it.
  static Result<std::unique_ptr<UnaryServer>> start(const UnaryServerOptions& options, UnaryMethods methods);
  virtual ~UnaryServer() = default;

  virtual int port() const = 0;

  // Takes no more calls, lets those under way finish until `grace`, cancels the rest, and returns when no handler runs any more.
  // Safe to call twice.
  virtual void stop(Deadline grace) = 0;
};

}  // namespace argosy::rpc
