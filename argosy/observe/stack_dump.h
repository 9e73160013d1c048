#pragma once

#include <sys/types.h>

#include <string>

namespace argosy::observe {

// Stacks of a process that does not go on, for its log. Two signals ask for them, both ignored by a process that has not prepared
// itself: SIGURG, sent to a thread, makes it write its own stack; SIGWINCH makes Python write those of its threads (the package
// argosy sees to that with faulthandler).

// From now on the threads of this process answer SIGURG. Of the whole process; safe to call twice.
void answer_stack_requests();

// Asks every thread of a process for its stack.
void request_stacks(pid_t process);

// What the system knows of a process's threads: name, state, where they wait in the kernel, one line each.
std::string thread_states(pid_t process);

}  // namespace argosy::observe
