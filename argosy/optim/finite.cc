#include "argosy/optim/finite.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace argosy::optim {
namespace {

using Lanes [[gnu::vector_size(32)]] = int32_t;
constexpr size_t kLanes = sizeof(Lanes) / sizeof(float);
constexpr int32_t kExponent = 0x7f800000;  // all ones in NaN and infinity, and in no other number

// All ones in the lanes of numbers that are not finite.
inline Lanes not_finite(const float* numbers) {
  Lanes bits;
  std::memcpy(&bits, numbers, sizeof(bits));
  return (bits & kExponent) == kExponent;
}

}  // namespace

bool all_finite(std::span<const float> numbers) {
  const float* at = numbers.data();
  const float* const end = at + numbers.size();
  Lanes even = {}, odd = {};
  for (; end - at >= static_cast<std::ptrdiff_t>(2 * kLanes); at += 2 * kLanes) {
    even |= not_finite(at);
    odd |= not_finite(at + kLanes);
  }
  even |= odd;
  int32_t found = 0;
  for (size_t i = 0; i < kLanes; ++i) found |= even[i];
  for (; at != end; ++at) found |= std::isfinite(*at) ? 0 : 1;
  return found == 0;
}

}  // namespace argosy::optim
