#pragma once

#include <sys/types.h>

#include "argosy/base/clock.h"

namespace argosy {

// Kills every process of a session, and waits for them to be gone; whether they are by the deadline. REQUIRES: the session's
// leader is a child of this process that has not been reaped, so that the number can mean no other session.
bool kill_session(pid_t session, Deadline deadline);

}  // namespace argosy
