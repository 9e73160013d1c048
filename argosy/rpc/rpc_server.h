#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"
#include "argosy/rpc/handler.h"
#include "argosy/rpc/rpc_limits.h"
#include "argosy/rpc/security.h"

namespace argosy::rpc {

// Which threads of a server run the handler for a call.
enum class Lane {
  change,  // may wait for a disk
  read,    // may take long, and waits for memory and locks only
  urgent,  // is done at once: signs of life
};

struct RpcServerOptions {
  std::string address;  // "host:port", the only one it listens on; port 0 takes a free one
  Security security;
  int threads = 0;  // that run the handler in each of the first two lanes; 0: one per core, at least 2
  size_t max_message_bytes = size_t{256} << 20;  // of a request; 2 GiB - 1 at most
  bool unix_socket = true;  // also listen on a Unix socket for callers of this user on this machine; never with TLS
  // By method. Calls of one lane never wait for those of another. None: all are changes.
  std::function<Lane(uint16_t)> lane = {};
  RpcLimits limits = {};
};

// Since the start. Bytes are those of messages, without what HTTP/2 and TLS add.
struct RpcServerCounters {
  uint64_t calls = 0;  // that reached the handler
  uint64_t refused = 0;  // by token, version or form
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  std::vector<LimitCount> limits = {};
};

// Answers calls at one address with one handler. Thread-safe; the destructor is stop() with a deadline of no time.
class RpcServer {
 public:
  // Fails where the address is not this machine's or is in use, and where a PEM file cannot be read; the message names it.
  // An address that other machines reach, without TLS and token, is worth a warning in the log.
  static Result<std::unique_ptr<RpcServer>> start(const RpcServerOptions& options, Handler handler);
  virtual ~RpcServer() = default;

  virtual int port() const = 0;
  virtual const std::string& endpoint() const = 0;  // "host:port", with the port that was bound
  virtual RpcServerCounters counters() const = 0;

  // Takes no more calls, lets those under way finish until `grace`, cancels the rest, and returns when no handler runs any
  // more. Replies that are kept elsewhere may still be completed; nobody gets them. Safe to call twice.
  virtual void stop(Deadline grace) = 0;
};

}  // namespace argosy::rpc
