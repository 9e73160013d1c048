#include "argosy/optim/finite.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace argosy::optim {
namespace {

using Lanes [[gnu::vector_size(16)]] = int32_t;
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
  constexpr size_t kStride = 4 * kLanes;
  const float* const at = numbers.data();
  Lanes found[4] = {};
  size_t i = 0;
  for (; i + kStride <= numbers.size(); i += kStride) {
    for (size_t k = 0; k < 4; ++k) found[k] |= not_finite(at + i + k * kLanes);
  }
  const Lanes any = (found[0] | found[1]) | (found[2] | found[3]);
  bool finite = true;
  for (size_t k = 0; k < kLanes; ++k) finite = finite && any[k] == 0;
  for (; i < numbers.size(); ++i) finite = finite && std::isfinite(at[i]);
  return finite;
}

}  // namespace argosy::optim
