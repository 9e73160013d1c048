#pragma once

#include <functional>

namespace argosy {

// Called before each line of the log, by the thread that logs; null: nothing. For who shows something on the same terminal. To be
// set while no other thread logs.
void set_log_prelude(std::function<void()> prelude);

// Calls it: before something else is written to the terminal.
void run_log_prelude();

}  // namespace argosy
