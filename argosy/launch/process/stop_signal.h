#pragma once

#include <span>

#include "argosy/base/clock.h"

namespace argosy::launch {

// That somebody wants the launcher to end: Ctrl-C, SIGTERM, SIGHUP. Of the whole process.

void stop_from_signal(int number);  // a signal's handler; async-signal-safe
int stop_signal();                  // the last one; 0: none yet
int stop_signals();                 // how many there were: a second one is impatient

// Waits until one of the descriptors is readable, a stop signal comes or the deadline passes. What the launcher's loop waits
// with: it looks at everything afterwards. Negative descriptors are left out. Of one thread.
void wait_for_event(std::span<const int> descriptors, Deadline deadline);

}  // namespace argosy::launch
