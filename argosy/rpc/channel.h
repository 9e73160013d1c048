#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"
#include "argosy/rpc/message.h"
#include "argosy/rpc/security.h"

namespace argosy::rpc {

using Callback = std::function<void(Result<Received>)>;

// A way to one peer. A call is sent once: it is never repeated behind the caller's back, because only the caller knows
// whether it may be. Where the connection was lost the call fails with `unavailable` at once, whether the peer executed it or
// not, and later calls connect again. The status that the peer's handler gave arrives as it is, code and message; a
// failure of the transport itself names the peer.
//
// Thread-safe. The destructor cancels the calls under way and returns when each of their callbacks has returned; it must not
// be called from one of them.
class Channel {
 public:
  virtual ~Channel() = default;

  // Sends `message`; `done` gets the answer exactly once, by `deadline` at the latest, on a thread of the transport: it must
  // not block, and must not be called under a lock that it takes itself (it may run before call() returns).
  virtual void call(Message message, Deadline deadline, Callback done) = 0;

  // The same, for callers with time. REQUIRES: not called from a callback.
  virtual Result<Received> call_and_wait(Message message, Deadline deadline);

  // Returns when the peer answers at all: it is there, speaks this version and accepts this side's security. Tries again
  // while there is time; a refusal (another version, token or certificate) is final and returned at once.
  virtual Status wait_ready(Deadline deadline) = 0;

  // "host:port" or its name, for messages.
  virtual const std::string& peer() const = 0;
};

struct ChannelOptions {
  Security security;
  size_t max_message_bytes = size_t{256} << 20;  // of an answer; 2 GiB - 1 at most
  bool unix_socket = true;  // use the Unix socket of a server on this machine; never with TLS
};

// A channel to the server at "host:port" ("[::1]:port" for IPv6), or at what a name stands for (base/endpoint_name.h); host and
// name are looked up again for each connection. Connects when it is first used; the only errors are arguments that cannot work:
// an address without a port, a PEM file that cannot be read.
Result<std::unique_ptr<Channel>> connect_channel(const std::string& endpoint, const ChannelOptions& options);

}  // namespace argosy::rpc
