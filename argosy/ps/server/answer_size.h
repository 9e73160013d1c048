#pragma once

#include <cstdint>

#include "argosy/ps/state/limit.h"

namespace argosy::ps {

// How large an answer will be, added up before any of it is made. Sums that no memory holds do not wrap. Thread-compatible.
class AnswerSize {
 public:
  explicit AnswerSize(Limit& limit) : limit_(limit) {}

  // `count` things of so many bytes; refused where the answer would be too large.
  Status add(uint64_t count, uint64_t bytes_each) {
    uint64_t bytes = 0, sum = 0;
    if (__builtin_mul_overflow(count, bytes_each, &bytes) || __builtin_add_overflow(bytes_, bytes, &sum)) {
      return limit_.refuse(UINT64_MAX);
    }
    if (sum > limit_.most()) return limit_.refuse(sum);
    bytes_ = sum;
    return {};
  }
  uint64_t bytes() const { return bytes_; }
  uint64_t left() const { return limit_.most() - bytes_; }

 private:
  Limit& limit_;
  uint64_t bytes_ = 0;
};

}  // namespace argosy::ps
