#include "argosy/data/arrow_numbers.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace argosy::data {
namespace {

// IEEE 754's binary16.
float from_half(uint16_t half) {
  const int exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 0x1f)
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction | 0x400), exponent - 25);
}

struct Half {
  uint16_t bits;
};

template <typename T, typename From>
void copy_as(const void* values, int64_t begin, int64_t end, T* out, int64_t stride) {
  if (begin == end) return;  // of no values the memory may be null
  const From* from = static_cast<const From*>(values);
  if constexpr (sizeof(T) == sizeof(From) && std::is_integral_v<T> == std::is_integral_v<From> && !std::is_same_v<From, Half>) {
    if (stride == 1) {
      std::memcpy(out, from + begin, static_cast<size_t>(end - begin) * sizeof(T));
      return;
    }
  }
  for (int64_t i = begin; i < end; ++i, out += stride) {
    if constexpr (std::is_same_v<From, Half>)
      *out = static_cast<T>(from_half(from[i].bits));
    else
      *out = static_cast<T>(from[i]);
  }
}

template <typename T>
void copy_bits(const void* bits, int64_t begin, int64_t end, T* out, int64_t stride) {
  for (int64_t i = begin; i < end; ++i, out += stride)
    *out = static_cast<T>(static_cast<const uint8_t*>(bits)[i >> 3] >> (i & 7) & 1);
}

template <typename T>
void copy_kind(ArrowKind kind, const void* values, int64_t begin, int64_t end, T* out, int64_t stride) {
  switch (kind) {
    case ArrowKind::int8: return copy_as<T, int8_t>(values, begin, end, out, stride);
    case ArrowKind::uint8: return copy_as<T, uint8_t>(values, begin, end, out, stride);
    case ArrowKind::int16: return copy_as<T, int16_t>(values, begin, end, out, stride);
    case ArrowKind::uint16: return copy_as<T, uint16_t>(values, begin, end, out, stride);
    case ArrowKind::int32: return copy_as<T, int32_t>(values, begin, end, out, stride);
    case ArrowKind::uint32: return copy_as<T, uint32_t>(values, begin, end, out, stride);
    case ArrowKind::int64: return copy_as<T, int64_t>(values, begin, end, out, stride);
    case ArrowKind::uint64: return copy_as<T, uint64_t>(values, begin, end, out, stride);
    case ArrowKind::boolean: return copy_bits<T>(values, begin, end, out, stride);
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {  // no slot of integers takes these
    if (kind == ArrowKind::float16) return copy_as<T, Half>(values, begin, end, out, stride);
    if (kind == ArrowKind::float32) return copy_as<T, float>(values, begin, end, out, stride);
    return copy_as<T, double>(values, begin, end, out, stride);
  }
}

}  // namespace

std::optional<ArrowKind> arrow_kind(std::string_view format) {
  constexpr std::string_view kFormats = "cCsSiIlLbefg";  // in the order of the kinds
  if (format.size() != 1) return std::nullopt;
  const size_t at = kFormats.find(format[0]);
  return at == std::string_view::npos ? std::nullopt : std::optional(static_cast<ArrowKind>(at));
}

bool is_integer(ArrowKind kind) { return kind < ArrowKind::float16; }

bool is_beyond_float(double value) {
  constexpr double kRoundsToInfinity = 0x1.ffffffp+127;
  const double size = std::abs(value);
  return size >= kRoundsToInfinity && size <= std::numeric_limits<double>::max();
}

ArrowNumbers::ArrowNumbers(const ArrowArray& array, ArrowKind kind, std::optional<ArrowKind> index)
    : kind_(kind),
      values_(array.buffers[1]),
      valid_(array.null_count == 0 ? nullptr : array.buffers[0]),
      offset_(array.offset),
      index_(index),
      dictionary_(index ? array.dictionary : nullptr) {}

int64_t ArrowNumbers::index_at(int64_t at) const {
  int64_t index = 0;
  copy_kind<int64_t>(*index_, values_, at + offset_, at + offset_ + 1, &index, 1);
  return index;
}

bool ArrowNumbers::missing_in_dictionary(int64_t at) const {
  if (valid_ != nullptr && !bit(valid_, at + offset_)) return true;
  const int64_t index = index_at(at);
  if (index < 0 || index >= dictionary_->length) return true;
  return dictionary_->null_count != 0 && dictionary_->buffers[0] != nullptr &&
         !bit(dictionary_->buffers[0], index + dictionary_->offset);
}

bool ArrowNumbers::any_missing(int64_t begin, int64_t end) const {
  if (dictionary_ == nullptr && valid_ == nullptr) return false;
  for (int64_t i = begin; i < end; ++i) {
    if (missing(i)) return true;
  }
  return false;
}

double ArrowNumbers::real_at(int64_t at) const {
  if (dictionary_ == nullptr) return static_cast<const double*>(values_)[at + offset_];
  return static_cast<const double*>(dictionary_->buffers[1])[index_at(at) + dictionary_->offset];
}

std::optional<double> ArrowNumbers::first_beyond_float(int64_t begin, int64_t end) const {
  if (kind_ != ArrowKind::float64) return std::nullopt;
  if (dictionary_ == nullptr) {  // most have none: also those that are missing are looked at, without a branch
    const double* values = static_cast<const double*>(values_) + offset_;
    bool any = false;
    for (int64_t i = begin; i < end; ++i) any |= is_beyond_float(values[i]);
    if (!any) return std::nullopt;
  }
  for (int64_t i = begin; i < end; ++i) {
    if (!missing(i) && is_beyond_float(real_at(i))) return real_at(i);
  }
  return std::nullopt;
}

template <typename T>
void ArrowNumbers::copy(int64_t begin, int64_t end, T* out, int64_t stride) const {
  if (dictionary_ == nullptr) return copy_kind<T>(kind_, values_, begin + offset_, end + offset_, out, stride);
  for (int64_t i = begin; i < end; ++i, out += stride) {
    *out = T{};
    if (missing(i)) continue;
    const int64_t at = index_at(i) + dictionary_->offset;
    copy_kind<T>(kind_, dictionary_->buffers[1], at, at + 1, out, 1);
  }
}

template void ArrowNumbers::copy(int64_t, int64_t, int64_t*, int64_t) const;
template void ArrowNumbers::copy(int64_t, int64_t, float*, int64_t) const;

}  // namespace argosy::data
