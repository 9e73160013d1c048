#include "argosy/launch/process/stop_signal.h"

#include <atomic>
#include <vector>

#include "argosy/base/poll.h"
#include "argosy/base/wake.h"

namespace argosy::launch {
namespace {

std::atomic<int> last{0}, count{0};
const Wake arrived;  // made before any handler runs

}  // namespace

void stop_from_signal(int number) {
  last = number;
  ++count;
  arrived.wake();
}

int stop_signal() { return last; }
int stop_signals() { return count; }

void wait_for_event(std::span<const int> descriptors, Deadline deadline) {
  std::vector<pollfd> waited = {{.fd = arrived.fd(), .events = POLLIN, .revents = 0}};
  for (const int fd : descriptors) waited.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  poll_until(waited, deadline);
  arrived.clear();  // the count is looked at after this, so that no signal is missed
}

}  // namespace argosy::launch
