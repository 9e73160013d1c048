#pragma once

#include <functional>

// Long work of the core that Ctrl-C can end.
namespace argosy::python {

// Calls `work` in a thread of its own and waits for it without the GIL, looking for Python's signals a few times a second. When
// a signal handler raises, calls `stop`, again and again until `work` has ended, and throws what the handler raised.
//
// Signals reach Python's main thread only: a call from another one just waits. REQUIRES: the GIL is held; `work` throws nothing
// and ends soon after `stop`, which any thread may call at any time.
void run_interruptibly(const std::function<void()>& work, const std::function<void()>& stop);

}  // namespace argosy::python
