#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace argosy::data {

// Number parsing for text with kTextPadding: each function reads at `at` and returns the byte after the number, or nullptr
// where there is no number or it does not fit. What follows the number is the caller's business.

static_assert(std::endian::native == std::endian::little, "the digit tricks below put the first character in the lowest byte");

inline constexpr uint64_t kPowersOf10[] = {1,
                                           10,
                                           100,
                                           1000,
                                           10000,
                                           100000,
                                           1000000,
                                           10000000,
                                           100000000,
                                           1000000000,
                                           10000000000,
                                           100000000000,
                                           1000000000000,
                                           10000000000000,
                                           100000000000000,
                                           1000000000000000,
                                           10000000000000000,
                                           100000000000000000,
                                           1000000000000000000,
                                           10000000000000000000u};

// Reads up to eight digits with one load and no branch on their number; returns how many there are.
inline int read_eight_digits(const char* at, uint64_t& value) {
  uint64_t digits;
  std::memcpy(&digits, at, 8);
  digits ^= 0x3030303030303030;  // a digit becomes 0..9, everything else 10 or more
  const uint64_t others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
  const int length = others == 0 ? 8 : std::countr_zero(others) / 8;  // carries only spoil bytes behind the first other
  if (length == 0) {
    value = 0;
    return 0;
  }
  digits <<= 8 * (8 - length);  // leading zeros in, what follows the number out
  digits = digits * 10 + (digits >> 8);
  value =
      (((digits & 0x000000ff000000ff) * 0x000f424000000064) + (((digits >> 16) & 0x000000ff000000ff) * 0x0000271000000001)) >> 32;
  return length;
}

// Digits only. nullptr where there are none or the value needs more than 64 bits.
inline const char* read_digits(const char* at, uint64_t& value) {
  int length = read_eight_digits(at, value);
  if (length < 8) [[likely]]
    return length == 0 ? nullptr : at + length;
  do {
    at += 8;
    uint64_t more;
    length = read_eight_digits(at, more);
    const auto wide = static_cast<unsigned __int128>(value) * kPowersOf10[length] + more;
    if (wide > UINT64_MAX) return nullptr;
    value = static_cast<uint64_t>(wide);
  } while (length == 8);
  return at + length;
}

// An int64 or a uint64, kept as 64 bits: from -2^63 to 2^64 - 1.
inline const char* read_int64(const char* at, int64_t& value) {
  const bool negative = *at == '-';
  uint64_t magnitude;
  const char* end = read_digits(at + negative, magnitude);
  if (end == nullptr || (negative && magnitude > uint64_t{1} << 63)) return nullptr;
  value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  return end;
}

// Any decimal text that strtof takes ("1.5", "-3e-5", "inf", "nan"), with strtof's value: too large is infinity.
const char* read_float_slowly(const char* at, float& value);
// The same with a double, as strtod has it.
const char* read_double_slowly(const char* at, double& value);

// The float nearest to `mantissa` / 10^`scale`; false where this quick way cannot tell which of two floats is nearer.
// REQUIRES: scale <= 19.
//
// The double quotient is off by at most two units in its last place. A double that is farther than that from the middle
// between two floats rounds to the same float as the true quotient does.
inline bool quick_float(uint64_t mantissa, int scale, float& value) {
  const double quotient = static_cast<double>(mantissa) / static_cast<double>(kPowersOf10[scale]);
  constexpr uint64_t kBelowFloat = (uint64_t{1} << 29) - 1, kMiddle = uint64_t{1} << 28;
  const uint64_t rest = std::bit_cast<uint64_t>(quotient) & kBelowFloat;
  if (rest - (kMiddle - 4) <= 8) [[unlikely]]
    return false;
  value = static_cast<float>(quotient);
  return true;
}

// As read_float_slowly, with a quick way for plain decimals of up to 19 digits, 8 of them before the point.
inline const char* read_float(const char* at, float& value) {
  const bool negative = *at == '-';
  const char* begin = at + negative;
  uint64_t mantissa;
  const int whole = read_eight_digits(begin, mantissa);
  const char* end = begin + whole;
  int scale = 0;
  if (*end == '.') {
    ++end;
    for (int length = 8; length == 8 && scale < 24; scale += length) {
      uint64_t fraction;
      length = read_eight_digits(end + scale, fraction);
      mantissa = mantissa * kPowersOf10[length] + fraction;  // may wrap; then there are more than 19 digits
    }
    end += scale;
  }
  const int digits = whole + scale;
  const bool plain = digits > 0 && digits <= 19 && static_cast<unsigned char>(*end) <= ' ';
  if (!plain || !quick_float(mantissa, scale, value)) [[unlikely]]
    return read_float_slowly(at, value);
  if (negative) value = -value;
  return end;
}

}  // namespace argosy::data
