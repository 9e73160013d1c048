#include "argosy/base/poll.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace argosy {

bool poll_until(std::span<pollfd> waited, Deadline deadline) {
  // Rounded up: a wait that ends a moment early would be repeated with no time at all.
  const double left = std::ceil(std::max(0.0, deadline.seconds_left()) * 1000);
  const int milliseconds = static_cast<int>(std::min<double>(left, std::numeric_limits<int>::max()));
  return ::poll(waited.data(), waited.size(), milliseconds) > 0;
}

bool wait_readable(int fd, Deadline deadline) {
  pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
  return poll_until({&waited, 1}, deadline);
}

}  // namespace argosy
