#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace argosy::serve {

// Whatever callers can make the server hold. Beyond a limit a caller gets an error with its name and value.
struct ServeLimits {
  size_t max_body_bytes = size_t{64} << 20;  // of one request: 413
  size_t max_queue = 1024;                   // requests that wait for a prediction: 429
  uint64_t max_parameters_bytes = uint64_t{64} << 20;  // of rows of a source, that one request for the parameters reads: 429
  size_t max_connections = 64;               // at once, idle ones too: 503
  std::chrono::milliseconds deadline{10'000};  // from the arrival of a request to its answer: 504
};

}  // namespace argosy::serve
