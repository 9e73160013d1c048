#include "argosy/ps/server/observers.h"

#include <algorithm>

#include "argosy/base/identity.h"
#include "argosy/base/mutex.h"

namespace argosy::ps {
namespace {

constexpr uint64_t kNumbers = uint64_t{1} << 63;  // see is_number()
constexpr std::chrono::seconds kSilence{60};  // after which another one may take the place

}  // namespace

Result<uint64_t> Observers::hello(uint64_t process_id) {
  MutexLock lock(mutex_);
  const auto known = std::ranges::find(known_, process_id, [](const auto& entry) { return entry.second.process_id; });
  if (known != known_.end()) {
    known->second.heard = SteadyClock::now();
    return known->first;
  }
  if (known_.size() >= limit_.most()) make_room();
  if (known_.size() >= limit_.most()) return limit_.refuse(1);
  const uint64_t number = kNumbers | draw_identity();
  known_[number] = {process_id, SteadyClock::now()};
  limit_.set_now(known_.size());
  return number;
}

void Observers::make_room() {
  const auto oldest = std::ranges::min_element(known_, {}, [](const auto& entry) { return entry.second.heard; });
  if (SteadyClock::now() - oldest->second.heard >= kSilence) known_.erase(oldest);
}

bool Observers::knows(uint64_t number) {
  MutexLock lock(mutex_);
  const auto known = known_.find(number);
  if (known == known_.end()) return false;
  known->second.heard = SteadyClock::now();
  return true;
}

}  // namespace argosy::ps
