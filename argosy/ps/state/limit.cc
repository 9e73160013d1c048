#include "argosy/ps/state/limit.h"

namespace argosy::ps {

Status Limit::take(uint64_t more) {
  uint64_t now = now_.load(std::memory_order_relaxed);
  do {
    if (!fits(now, more)) return refuse(more);
  } while (!now_.compare_exchange_weak(now, now + more, std::memory_order_relaxed));
  return {};
}

Status Limit::refuse(uint64_t wanted) {
  refused_.fetch_add(1, std::memory_order_relaxed);
  return Status::resource_exhausted("the limit {} is reached: {} {} at most, {} are there and {} more were asked for; {}", name_,
                                    most_, unit_, now(), wanted, advice_);
}

}  // namespace argosy::ps
