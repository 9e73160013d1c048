#include "argosy/data/arrow_numbers.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "argosy/base/random.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

// An array of fixed-width values whose buffers live as long as it does.
struct Values {
  std::vector<char> values;  // as many bytes as they have
  std::vector<uint8_t> valid;
  std::array<const void*, 2> buffers{};
  ArrowArray array{};

  template <typename T>
  static Values of(const std::vector<T>& numbers, const std::vector<bool>& there = {}) {
    Values made;
    made.values.resize(numbers.size() * sizeof(T) + 1);
    if (!numbers.empty()) std::memcpy(made.values.data(), numbers.data(), numbers.size() * sizeof(T));
    made.finish(numbers.size(), there);
    return made;
  }
  static Values of_bits(const std::vector<bool>& bits, const std::vector<bool>& there = {}) {
    Values made;
    made.values.assign(bits.size() / 8 + 1, 0);
    for (size_t i = 0; i < bits.size(); ++i) made.values[i / 8] = static_cast<char>(made.values[i / 8] | (bits[i] << (i % 8)));
    made.finish(bits.size(), there);
    return made;
  }

  // The array, from its value `offset` on; the values stay where they are.
  const ArrowArray& from(int64_t offset = 0, Values* dictionary = nullptr) {
    buffers = {valid.empty() ? nullptr : valid.data(), values.data()};
    array.n_buffers = 2;
    array.buffers = buffers.data();
    array.offset = offset;
    array.length = size_ - offset;
    if (dictionary != nullptr) array.dictionary = &dictionary->array;
    return array;
  }

 private:
  void finish(size_t count, const std::vector<bool>& there) {
    size_ = static_cast<int64_t>(count);
    if (there.empty()) return;
    valid.assign(count / 8 + 1, 0);
    for (size_t i = 0; i < count; ++i) valid[i / 8] = static_cast<uint8_t>(valid[i / 8] | (there[i] << (i % 8)));
    array.null_count = -1;  // not counted, as Arrow allows
  }
  int64_t size_ = 0;
};

template <typename Out>
std::vector<Out> copied(const ArrowNumbers& numbers, int64_t begin, int64_t end) {
  std::vector<Out> out(static_cast<size_t>(end - begin), Out{-77});
  numbers.copy(begin, end, out.data());
  return out;
}

TEST(ArrowKind, IsThatOfTheFormatsOfNumbers) {
  const std::pair<const char*, ArrowKind> kinds[] = {
      {"c", ArrowKind::int8},    {"C", ArrowKind::uint8},   {"s", ArrowKind::int16},   {"S", ArrowKind::uint16},
      {"i", ArrowKind::int32},   {"I", ArrowKind::uint32},  {"l", ArrowKind::int64},   {"L", ArrowKind::uint64},
      {"b", ArrowKind::boolean}, {"e", ArrowKind::float16}, {"f", ArrowKind::float32}, {"g", ArrowKind::float64}};
  for (const auto& [format, kind] : kinds) EXPECT_EQ(arrow_kind(format), kind) << format;
  for (const char* other : {"", "u", "z", "n", "+l", "ll", "tdD", "w:4", "d:10,2", "\0"})
    EXPECT_EQ(arrow_kind(other), std::nullopt) << other;
  EXPECT_TRUE(is_integer(ArrowKind::boolean));
  EXPECT_TRUE(is_integer(ArrowKind::uint64));
  EXPECT_FALSE(is_integer(ArrowKind::float16));
}

// Of every width and both kinds of slots, from any offset and at any stride: what a cast of each value says.
template <typename T>
void check_type(ArrowKind kind, Random& random) {
  std::vector<T> numbers(100);
  for (T& number : numbers) {
    const uint64_t bits = random();
    if constexpr (std::is_floating_point_v<T>) {
      number = static_cast<T>(random.normal() * 1e6);
    } else {
      std::memcpy(&number, &bits, sizeof number);
    }
  }
  Values values = Values::of(numbers);
  for (const int64_t offset : {int64_t{0}, int64_t{3}, int64_t{17}}) {
    const ArrowNumbers read(values.from(offset), kind, std::nullopt);
    const int64_t begin = static_cast<int64_t>(random.below(20)), end = begin + static_cast<int64_t>(random.below(60));
    EXPECT_FALSE(read.any_missing(begin, end));
    const auto floats = copied<float>(read, begin, end);
    for (int64_t i = begin; i < end; ++i)
      ASSERT_EQ(floats[static_cast<size_t>(i - begin)], static_cast<float>(numbers[static_cast<size_t>(i + offset)]));
    std::vector<float> wide(static_cast<size_t>(end - begin) * 3 + 1, -1);
    read.copy(begin, end, wide.data(), 3);
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<size_t>(i - begin) * 3;
      ASSERT_EQ(wide[at], floats[static_cast<size_t>(i - begin)]);
      ASSERT_EQ(wide[at + 1], -1) << "what lies between is another column's";
    }
    if constexpr (std::is_integral_v<T>) {
      const auto ints = copied<int64_t>(read, begin, end);
      for (int64_t i = begin; i < end; ++i)
        ASSERT_EQ(ints[static_cast<size_t>(i - begin)], static_cast<int64_t>(numbers[static_cast<size_t>(i + offset)]));
    }
  }
}

TEST(ArrowNumbers, AreWhatACastOfEachValueSays) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 20; ++round) {
    check_type<int8_t>(ArrowKind::int8, random);
    check_type<uint8_t>(ArrowKind::uint8, random);
    check_type<int16_t>(ArrowKind::int16, random);
    check_type<uint16_t>(ArrowKind::uint16, random);
    check_type<int32_t>(ArrowKind::int32, random);
    check_type<uint32_t>(ArrowKind::uint32, random);
    check_type<int64_t>(ArrowKind::int64, random);
    check_type<uint64_t>(ArrowKind::uint64, random);
    check_type<float>(ArrowKind::float32, random);
    check_type<double>(ArrowKind::float64, random);
  }
}

// Keys are 64 bits: none of them is lost on the way through an unsigned column.
TEST(ArrowNumbers, KeysKeepAll64Bits) {
  Values values = Values::of(std::vector<uint64_t>{0, 1, 1ull << 63, ~0ull, (1ull << 53) + 1});
  const auto keys = copied<int64_t>(ArrowNumbers(values.from(), ArrowKind::uint64, std::nullopt), 0, 5);
  EXPECT_EQ(static_cast<uint64_t>(keys[2]), 1ull << 63);
  EXPECT_EQ(static_cast<uint64_t>(keys[3]), ~0ull);
  EXPECT_EQ(static_cast<uint64_t>(keys[4]), (1ull << 53) + 1);
}

TEST(ArrowNumbers, BooleansAreBitsFromAnyOffset) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  std::vector<bool> bits(67);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = random.below(2) == 1;
  Values values = Values::of_bits(bits);
  for (int64_t offset = 0; offset < 20; ++offset) {
    const ArrowNumbers read(values.from(offset), ArrowKind::boolean, std::nullopt);
    const auto ints = copied<int64_t>(read, 0, 67 - offset);
    const auto floats = copied<float>(read, 0, 67 - offset);
    for (size_t i = 0; i < ints.size(); ++i) {
      ASSERT_EQ(ints[i], bits[i + static_cast<size_t>(offset)] ? 1 : 0);
      ASSERT_EQ(floats[i], bits[i + static_cast<size_t>(offset)] ? 1.0f : 0.0f);
    }
  }
}

// All 65,536 half precision numbers, by what IEEE 754 says of sign, exponent and fraction.
TEST(ArrowNumbers, EveryHalfIsTheFloatOfItsBits) {
  std::vector<uint16_t> halves(65'536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  Values values = Values::of(halves);
  const auto floats = copied<float>(ArrowNumbers(values.from(), ArrowKind::float16, std::nullopt), 0, 65'536);
  for (size_t i = 0; i < halves.size(); ++i) {
    const int exponent = static_cast<int>(i >> 10 & 31);
    const double fraction = static_cast<double>(i & 1023) / 1024, sign = i >= 32'768 ? -1 : 1;
    if (exponent == 31) {
      ASSERT_TRUE(fraction == 0 ? std::isinf(floats[i]) && (floats[i] < 0) == (sign < 0) : std::isnan(floats[i])) << i;
    } else {
      const double expected =
          exponent == 0 ? sign * fraction * std::pow(2, -14) : sign * (1 + fraction) * std::pow(2, exponent - 15);
      ASSERT_EQ(floats[i], expected) << i;
      ASSERT_EQ(std::signbit(floats[i]), sign < 0) << i;
    }
  }
}

TEST(ArrowNumbers, ValuesAreMissingWhereTheirBitIsNotSet) {
  const std::vector<bool> there = {true, true, false, true, true, true, true, true, true, false, true};
  Values values = Values::of(std::vector<int32_t>(there.size(), 5), there);
  for (int64_t offset = 0; offset < 3; ++offset) {
    const ArrowNumbers read(values.from(offset), ArrowKind::int32, std::nullopt);
    for (int64_t i = 0; i + offset < static_cast<int64_t>(there.size()); ++i)
      EXPECT_EQ(read.missing(i), !there[static_cast<size_t>(i + offset)]) << offset << " " << i;
  }
  const ArrowNumbers read(values.from(), ArrowKind::int32, std::nullopt);
  EXPECT_TRUE(read.any_missing(0, 11));
  EXPECT_FALSE(read.any_missing(3, 9));
  EXPECT_TRUE(read.any_missing(3, 10));
  EXPECT_FALSE(read.any_missing(2, 2));
  values.array.null_count = 0;  // then nobody looks at the bits
  EXPECT_FALSE(ArrowNumbers(values.array, ArrowKind::int32, std::nullopt).any_missing(0, 11));
}

// An index that is missing, is none of the dictionary, or whose value there is missing: no value, and never a read outside.
TEST(ArrowNumbers, ADictionaryIsLookedUpWithinItsEnds) {
  Values words = Values::of(std::vector<double>{99, 0.5, 1.5, 2.5}, {true, true, false, true});
  words.from(1);  // its first value is another's
  Values indices = Values::of(std::vector<int8_t>{0, 1, 2, 3, -1, 127, 0}, {true, true, true, true, true, true, false});
  const ArrowNumbers read(indices.from(0, &words), ArrowKind::float64, ArrowKind::int8);
  const bool missing[] = {false, true, false, true, true, true, true};
  for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(read.missing(i), missing[i]) << i;
  EXPECT_EQ(copied<float>(read, 0, 7), (std::vector<float>{0.5f, 0, 2.5f, 0, 0, 0, 0}));
  EXPECT_TRUE(read.any_missing(0, 7));
  EXPECT_FALSE(read.any_missing(2, 3));

  Values all_there = Values::of(std::vector<double>{0.5, 1.5, 99});
  all_there.from();
  all_there.array.length = 2;  // what lies behind it is another's
  Values ends = Values::of(std::vector<int8_t>{1, 2});
  const ArrowNumbers at_end(ends.from(0, &all_there), ArrowKind::float64, ArrowKind::int8);
  EXPECT_FALSE(at_end.missing(0));
  EXPECT_TRUE(at_end.missing(1));
  EXPECT_EQ(copied<float>(at_end, 0, 2), (std::vector<float>{1.5f, 0}));
}

TEST(ArrowNumbers, WhatNoFloatHoldsIsFoundWhereItIsThere) {
  const double most = std::numeric_limits<float>::max(), infinity = std::numeric_limits<double>::infinity();
  const double halfway = 0x1.ffffffp+127;  // between the largest float and the next power of two: rounds to infinity
  EXPECT_FALSE(is_beyond_float(most));
  EXPECT_FALSE(is_beyond_float(std::nextafter(halfway, 0)));
  EXPECT_EQ(static_cast<float>(std::nextafter(halfway, 0)), std::numeric_limits<float>::max());
  EXPECT_TRUE(is_beyond_float(halfway));
  EXPECT_TRUE(is_beyond_float(-1e300));
  EXPECT_FALSE(is_beyond_float(infinity)) << "it is infinite before and after";
  EXPECT_FALSE(is_beyond_float(std::nan("")));

  Values values = Values::of(std::vector<double>{1, 1e300, 2, -1e39, 3}, {true, false, true, true, true});
  const ArrowNumbers read(values.from(), ArrowKind::float64, std::nullopt);
  EXPECT_EQ(read.first_beyond_float(0, 5), -1e39) << "the one before it is not there";
  EXPECT_EQ(read.first_beyond_float(0, 3), std::nullopt);
  EXPECT_EQ(ArrowNumbers(values.from(2), ArrowKind::float64, std::nullopt).first_beyond_float(0, 3), -1e39);
  Values small = Values::of(std::vector<float>{std::numeric_limits<float>::max()});
  EXPECT_EQ(ArrowNumbers(small.from(), ArrowKind::float32, std::nullopt).first_beyond_float(0, 1), std::nullopt);
}

}  // namespace
}  // namespace argosy::data
