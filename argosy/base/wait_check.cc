#include "argosy/base/wait_check.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace argosy {
namespace {

std::atomic<WaitCheck> the_check{nullptr};

}  // namespace

void set_wait_check(WaitCheck check) { the_check = check; }

bool wait_cancelled() {
  const WaitCheck check = the_check;
  return check != nullptr && check();
}

bool pause_unless_cancelled(double seconds, const Deadline& deadline) {
  constexpr double kBetweenChecks = 0.1;
  const Deadline end = Deadline::after_seconds(std::min(seconds, deadline.seconds_left()));
  for (;;) {
    if (wait_cancelled()) return false;
    const double left = end.seconds_left();
    if (left <= 0) return true;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, kBetweenChecks)));
  }
}

}  // namespace argosy
