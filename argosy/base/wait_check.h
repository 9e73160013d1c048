#pragma once

#include "argosy/base/clock.h"

namespace argosy {

// Long waits, such as those for servers and other workers, ask now and then whether somebody wants them to end: a user who
// pressed Ctrl-C. The embedding application (Python) sets the check.

// True: the wait that asks is to end with `cancelled`. May be called by any thread, with no lock held.
using WaitCheck = bool (*)();

// Asked by all waits from now on; null: nobody ends them early. Thread-safe.
void set_wait_check(WaitCheck check);

// Whether the calling thread's wait is to end. REQUIRES: no lock is held.
bool wait_cancelled();

// For what nobody announces, such as a new file in a folder: waits so many seconds, but not beyond the deadline. False: the wait
// is to end, which is seen within a tenth of a second. REQUIRES: no lock is held.
bool pause_unless_cancelled(double seconds, const Deadline& deadline);

}  // namespace argosy
