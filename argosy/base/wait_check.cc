#include "argosy/base/wait_check.h"

#include <atomic>

namespace argosy {
namespace {

std::atomic<WaitCheck> the_check{nullptr};

}  // namespace

void set_wait_check(WaitCheck check) { the_check = check; }

bool wait_cancelled() {
  const WaitCheck check = the_check;
  return check != nullptr && check();
}

}  // namespace argosy
