#pragma once

#include <cstdint>
#include <string>

namespace argosy::rpc {

// What the callers of a port can make it hold, members of the job or not. Refusals and counters use these names.
//
// Somebody who has not shown the job's token is a stranger: he costs a socket and a kilobyte, for a few seconds, and gRPC
// never sees a byte of his.
struct RpcLimits {
  uint64_t connections = 4096;         // at a time; further ones are closed at once. Also below what the process may open
  uint64_t strangers = 512;            // of those; the oldest is dropped for a new one
  double stranger_seconds = 10;        // within which a connection must have shown the token, the TLS handshake included
  double connections_per_second = 500;  // that are accepted; the others wait in the system's queue
  double arrivals_per_second = 50;  // of those with the pass, from one address, after a burst of `connections`, but 320 to 512
  int streams_per_connection = 16;  // a channel uses one, and for a moment two
  uint64_t streams = 8192;  // at a time; further ones are refused
  uint64_t waiting_bytes = 64 << 20;  // of requests of one stream that wait for a thread; beyond it, it is not read from
  uint64_t waiting_requests = 128;  // the same, in number
  uint64_t waiting_answers = 1024;  // that the caller of one stream has not taken; beyond it, it is not read from
  uint64_t reply_bytes = uint64_t{4} << 30;  // answers that callers have not taken; beyond it, a stream that has some gets errors
};

// How much there is of something limited. `most` 0: it is only counted.
struct LimitCount {
  std::string name;
  uint64_t now = 0, most = 0, refused = 0;
};

}  // namespace argosy::rpc
