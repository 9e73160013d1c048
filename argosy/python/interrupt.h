#pragma once

#include <functional>

// Long work of the core that Ctrl-C can end.
namespace argosy::python {

// Calls `work` in a thread of its own and waits for it without the GIL, looking for Python's signals a few times per second. When
// a signal handler raises, calls `stop`, again and again until `work` has ended, and throws what the handler raised. Waits for
// servers and other workers end by themselves then.
//
// Signals reach Python's main thread only: a call from another one just waits. REQUIRES: the GIL is held; `work` throws nothing
// and ends soon after `stop`, which any thread may call at any time.
void run_interruptibly(const std::function<void()>& work, const std::function<void()>& stop = [] {});

// Calls `work` in this thread, without the GIL. A wait for servers or other workers in it ends where a signal handler raises,
// and what that raised is thrown in place of the wait's own error. For short work that may have to wait.
//
// REQUIRES: the GIL is held.
void run_without_gil(const std::function<void()>& work);

// Lets waits of the core ask Python about its signals. Once, when the module is loaded.
void install_wait_check();

}  // namespace argosy::python
