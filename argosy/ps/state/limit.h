#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "argosy/base/status.h"

namespace argosy::ps {

// One thing that a server may have only so much of: how much there is, how much there may be, and how often somebody was told
// no. All limits of a server are in ServerLimits, and in its Stats by name.
//
// Thread-safe.
class Limit {
 public:
  // `unit` is what is counted, in the plural; `advice` is what a refused caller can do. Both outlive the limit.
  Limit(std::string_view name, uint64_t most, std::string_view unit, std::string_view advice)
      : name_(name), most_(most), unit_(unit), advice_(advice) {}

  std::string_view name() const { return name_; }
  uint64_t most() const { return most_; }
  uint64_t now() const { return now_.load(std::memory_order_relaxed); }
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

  void set_now(uint64_t now) { now_.store(now, std::memory_order_relaxed); }

  // Whether there is room for `more` beside `now` of them.
  bool fits(uint64_t now, uint64_t more) const { return now <= most_ && more <= most_ - now; }

  // Takes so many more, or says why not. After ok, give_back() has to follow.
  Status take(uint64_t more);
  void give_back(uint64_t some) { now_.fetch_sub(some, std::memory_order_relaxed); }

  // resource_exhausted: which limit, its value, what was asked for, and what to do; counts the refusal.
  Status refuse(uint64_t wanted);

 private:
  const std::string_view name_;
  const uint64_t most_;
  const std::string_view unit_, advice_;
  std::atomic<uint64_t> now_ = 0, refused_ = 0;
};

}  // namespace argosy::ps
