#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "argosy/base/status.h"

namespace argosy::rpc {

struct UnaryRequest {
  std::string bytes;                             // the message, as the caller's protobuf wrote it
  std::optional<std::chrono::nanoseconds> wait;  // the caller's patience, where it said
};

struct UnaryMethod {
  std::function<Result<std::string>(UnaryRequest)> handler;  // called on threads of the server; may block. The answer's bytes
  bool urgent = false;  // is answered at once, by a thread of its own: whatever waits, it is asked how things stand
};

using UnaryMethods = std::map<std::string, UnaryMethod>;  // by path: "/package.Service/Method"

struct UnaryServerOptions {
  std::string address;  // "host:port", the only one it listens at; port 0 takes a free one
  int max_calls = 64;   // under way, besides urgent ones, of which there may be as many: unavailable
  size_t max_request_bytes = size_t{64} << 20;   // resource_exhausted
  std::chrono::milliseconds read_time{10'000};   // from the opening of a call to the end of its request: deadline_exceeded
  std::string calls_limit = "max_calls";         // the name of the limit in what a refused caller reads
};

}  // namespace argosy::rpc
