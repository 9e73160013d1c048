#pragma once

namespace argosy::launch {

// That somebody wants the launcher to end: Ctrl-C, SIGTERM, SIGHUP. Of the whole process.

void stop_from_signal(int number);  // a signal's handler; async-signal-safe
int stop_signal();                  // the last one; 0: none yet
int stop_signals();                 // how many there were: a second one is impatient

}  // namespace argosy::launch
