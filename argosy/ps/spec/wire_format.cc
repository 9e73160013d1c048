#include "argosy/ps/spec/wire_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace argosy::ps {
namespace {

constexpr std::string_view kFormatNames[] = {"float32", "bfloat16", "int8"};
constexpr uint16_t kNoNumber = 0x7fc0;
constexpr float kMostInt8 = 127;
constexpr float kSmallest = 1e-34f;        // below it a scale would have no bits left
constexpr float kWhole = 12'582'912.0f;    // 1.5 * 2^23: a float of this size has no bits behind the point

// Messages have no gaps: what lies behind another section may be unaligned.
template <typename T>
T load_at(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename T>
void put_at(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

uint16_t nearest_bfloat16(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const uint32_t none = (bits >> 16) | 0x40;  // NaN stays NaN: rounding could carry it to infinity
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? none : rounded);
}

float from_bfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// The least bfloat16 that is not below a finite number from 0.
uint16_t bfloat16_above(float number) { return static_cast<uint16_t>((std::bit_cast<uint32_t>(number) + 0xffff) >> 16); }

uint16_t scale_of(std::span<const float> block) {
  uint32_t largest = 0;  // the bits of numbers from 0 are ordered as the numbers are
  for (const float number : block) largest = std::max(largest, std::bit_cast<uint32_t>(number) & 0x7fffffff);
  if (largest >= 0x7f800000) return kNoNumber;
  const float size = std::bit_cast<float>(largest);
  return size < kSmallest ? 0 : bfloat16_above(size / kMostInt8);
}

// REQUIRES: no number is more than 127 times as large as the scale.
void write_int8(std::span<const float> block, float scale, std::byte* to) {
  const float inverse = 1 / scale;
  for (size_t i = 0; i < block.size(); ++i) {
    const float whole = block[i] * inverse + kWhole;  // the nearest whole number is in its last bits
    to[i] = static_cast<std::byte>(std::bit_cast<uint32_t>(whole) & 0xff);
  }
}

size_t blocks_of(size_t numbers, size_t block) { return numbers / block + (numbers % block != 0 ? 1 : 0); }

void round_to_int8(std::span<const float> numbers, size_t block, std::byte* to) {
  std::byte* whole = to + blocks_of(numbers.size(), block) * sizeof(uint16_t);
  for (size_t begin = 0; begin < numbers.size(); begin += block, to += sizeof(uint16_t)) {
    const auto here = numbers.subspan(begin, std::min(block, numbers.size() - begin));
    const uint16_t scale = scale_of(here);
    put_at(scale, to);
    if (scale == 0 || scale == kNoNumber) {
      std::fill_n(whole + begin, here.size(), std::byte{0});
    } else {
      write_int8(here, from_bfloat16(scale), whole + begin);
    }
  }
}

// Calls visit(first number, the block's whole numbers, scale) for every block.
template <typename Visit>
void for_each_block(const std::byte* from, size_t numbers, size_t block, const Visit& visit) {
  const auto* whole = reinterpret_cast<const int8_t*>(from + blocks_of(numbers, block) * sizeof(uint16_t));
  for (size_t begin = 0; begin < numbers; begin += block, from += sizeof(uint16_t)) {
    visit(begin, std::span(whole + begin, std::min(block, numbers - begin)), from_bfloat16(load_at<uint16_t>(from)));
  }
}

}  // namespace

std::string_view wire_format_name(WireFormat format) { return kFormatNames[static_cast<size_t>(format)]; }

std::optional<WireFormat> wire_format_named(std::string_view name) {
  const auto* found = std::ranges::find(kFormatNames, name);
  if (found == std::end(kFormatNames)) return std::nullopt;
  return static_cast<WireFormat>(found - std::begin(kFormatNames));
}

size_t wire_bytes(WireFormat format, size_t numbers, size_t block) {
  switch (format) {
    case WireFormat::float32: return numbers * sizeof(float);
    case WireFormat::bfloat16: return numbers * sizeof(uint16_t);
    case WireFormat::int8: return numbers + blocks_of(numbers, block) * sizeof(uint16_t);
  }
  return 0;
}

void round_to_wire(WireFormat format, std::span<const float> numbers, size_t block, std::byte* to) {
  if (numbers.empty()) return;
  switch (format) {
    case WireFormat::float32: std::memcpy(to, numbers.data(), numbers.size_bytes()); return;
    case WireFormat::bfloat16:
      for (size_t i = 0; i < numbers.size(); ++i) put_at(nearest_bfloat16(numbers[i]), to + i * sizeof(uint16_t));
      return;
    case WireFormat::int8: round_to_int8(numbers, block, to); return;
  }
}

void read_from_wire(WireFormat format, const std::byte* from, size_t block, std::span<float> numbers) {
  if (numbers.empty()) return;
  switch (format) {
    case WireFormat::float32: std::memcpy(numbers.data(), from, numbers.size_bytes()); return;
    case WireFormat::bfloat16:
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = from_bfloat16(load_at<uint16_t>(from + i * sizeof(uint16_t)));
      return;
    case WireFormat::int8:  // a product of 7 and 8 bits is exact
      for_each_block(from, numbers.size(), block, [&](size_t begin, std::span<const int8_t> whole, float scale) {
        for (size_t i = 0; i < whole.size(); ++i) numbers[begin + i] = static_cast<float>(whole[i]) * scale;
      });
      return;
  }
}

void left_by_rounding(WireFormat format, std::span<const float> numbers, size_t block, const std::byte* rounded,
                      std::span<float> left) {
  read_from_wire(format, rounded, block, left);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const float rest = numbers[i] - left[i];
    left[i] = std::abs(rest) <= std::numeric_limits<float>::max() ? rest : 0;
  }
}

bool are_short(std::span<const uint64_t> keys) {
  uint64_t any = 0;
  for (const uint64_t key : keys) any |= key;
  return any <= std::numeric_limits<uint32_t>::max();
}

void write_keys(std::span<const uint64_t> keys, bool is_short, std::byte* to) {
  if (keys.empty()) return;
  if (!is_short) {
    std::memcpy(to, keys.data(), keys.size_bytes());
    return;
  }
  for (size_t i = 0; i < keys.size(); ++i) put_at(static_cast<uint32_t>(keys[i]), to + i * sizeof(uint32_t));
}

void read_keys(const std::byte* from, bool is_short, std::span<uint64_t> keys) {
  if (keys.empty()) return;
  if (!is_short) {
    std::memcpy(keys.data(), from, keys.size_bytes());
    return;
  }
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = load_at<uint32_t>(from + i * sizeof(uint32_t));
}

}  // namespace argosy::ps
