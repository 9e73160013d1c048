#pragma once

#include <cstdint>

#include "argosy/base/status.h"
#include "argosy/ps/state/limit.h"

namespace argosy::ps {

// How many names the workers of a job have made up, and whether there may be one more. Those who keep things by such names share
// one count, so that one limit holds for all of them together.
//
// Thread-compatible: the caller serialises all calls.
class NameCount {
 public:
  // `limit` outlives the count; null: no limit.
  explicit NameCount(Limit* limit) : limit_(limit) {}

  void add() { ++count_; }
  // REQUIRES: so many were added and not removed.
  void remove(uint64_t names) { count_ -= names; }

  uint64_t count() const { return count_; }
  // Whether one more fits; resource_exhausted: what the limit says.
  Status check_room() const { return limit_ == nullptr || limit_->fits(count_, 1) ? Status() : limit_->refuse(1); }
  // Tells the limit how many there are.
  void measure() const {
    if (limit_ != nullptr) limit_->set_now(count_);
  }

 private:
  Limit* const limit_;
  uint64_t count_ = 0;
};

}  // namespace argosy::ps
