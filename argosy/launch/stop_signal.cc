#include "argosy/launch/stop_signal.h"

#include <atomic>

namespace argosy::launch {
namespace {

std::atomic<int> last{0}, count{0};

}  // namespace

void stop_from_signal(int number) {
  last = number;
  ++count;
}

int stop_signal() { return last; }
int stop_signals() { return count; }

}  // namespace argosy::launch
