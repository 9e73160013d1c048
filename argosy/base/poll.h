#pragma once

#include <poll.h>

#include <span>

#include "argosy/base/clock.h"

namespace argosy {

// Waits until one of the descriptors is ready, as poll(2) does; false: none was by the deadline, or a signal came. One that is
// negative is left out.
bool poll_until(std::span<pollfd> waited, Deadline deadline);

// The same for one descriptor that is to be read.
bool wait_readable(int fd, Deadline deadline);

}  // namespace argosy
