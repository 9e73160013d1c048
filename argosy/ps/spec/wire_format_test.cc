#include "argosy/ps/spec/wire_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "argosy/base/random.h"

namespace argosy::ps {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// What arrives, by way of memory that begins at an odd place, as sections of a message do.
std::vector<float> through(WireFormat format, const std::vector<float>& numbers, size_t block) {
  std::vector<std::byte> bytes(wire_bytes(format, numbers.size(), block) + 2, std::byte{0x5a});
  round_to_wire(format, numbers, block, bytes.data() + 1);
  EXPECT_EQ(bytes.back(), std::byte{0x5a}) << "more was written than wire_bytes() says";
  std::vector<float> read(numbers.size(), -99);
  read_from_wire(format, bytes.data() + 1, block, read);
  return read;
}

std::vector<float> random_numbers(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>((random.uniform() - 0.5) * std::pow(10.0, random.uniform() * 12 - 9));
  return numbers;
}

// The bits that torch.tensor(x).to(torch.bfloat16) has.
TEST(WireFormat, Bfloat16RoundsAsTorchDoes) {
  const std::pair<float, uint16_t> torch[] = {{0.0f, 0x0000},
                                              {-0.0f, 0x8000},
                                              {1.0f, 0x3f80},
                                              {-1.0f, 0xbf80},
                                              {1.00390625f, 0x3f80},
                                              {1.01171875f, 0x3f82},
                                              {1.0078125f, 0x3f81},
                                              {3.1415927410125732f, 0x4049},
                                              {-2.7182817459106445f, 0xc02e},
                                              {9.99994610111476e-41f, 0x0001},
                                              {-1.401298464324817e-45f, 0x8000},
                                              {3.299999965482712e+38f, 0x7f78},
                                              {3.3999999521443642e+38f, 0x7f80},
                                              {65504.0f, 0x4780},
                                              {0.0010000000474974513f, 0x3a83},
                                              {0.10000000149011612f, 0x3dcd},
                                              {123456.7890625f, 0x47f1}};
  for (const auto& [number, bits] : torch) {
    std::byte bytes[2];
    round_to_wire(WireFormat::bfloat16, std::span(&number, 1), 1, bytes);
    uint16_t found = 0;
    std::memcpy(&found, bytes, sizeof found);
    EXPECT_EQ(found, bits) << number;
    float back = 0;
    read_from_wire(WireFormat::bfloat16, bytes, 1, std::span(&back, 1));
    EXPECT_EQ(std::bit_cast<uint32_t>(back), uint32_t{bits} << 16) << number;
  }
}

TEST(WireFormat, NaNStaysNaNWhateverItsBits) {
  for (const uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0x7fc00000u, 0xffffffffu}) {
    for (const WireFormat format : {WireFormat::float32, WireFormat::bfloat16, WireFormat::int8})
      EXPECT_TRUE(std::isnan(through(format, {std::bit_cast<float>(bits)}, 1)[0])) << std::hex << bits;
  }
  EXPECT_EQ(through(WireFormat::bfloat16, {-kInfinity}, 1)[0], -kInfinity);
}

TEST(WireFormat, Float32ComesAsItIs) {
  const auto numbers = random_numbers(1000, 7);
  EXPECT_EQ(through(WireFormat::float32, numbers, 10), numbers);
}

TEST(WireFormat, Bfloat16IsWithinHalfOfItsLastBit) {
  const auto numbers = random_numbers(10'000, 1);
  const auto read = through(WireFormat::bfloat16, numbers, 1);
  for (size_t i = 0; i < numbers.size(); ++i) ASSERT_LE(std::abs(read[i] - numbers[i]), std::abs(numbers[i]) / 256) << numbers[i];
}

// Each block has a scale of its own, also a last one that is shorter.
TEST(WireFormat, Int8IsWithinHalfAStepOfItsBlock) {
  for (const size_t block : {1u, 3u, 10u, 256u}) {
    const auto numbers = random_numbers(2 * 256 + 77, block);
    const auto read = through(WireFormat::int8, numbers, block);
    for (size_t begin = 0; begin < numbers.size(); begin += block) {
      const size_t end = std::min(begin + block, numbers.size());
      float largest = 0;
      for (size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(numbers[i]));
      const float step = largest / 127 * (1 + 1.0f / 128);  // a scale is rounded up to 8 bits
      for (size_t i = begin; i < end; ++i) ASSERT_LE(std::abs(read[i] - numbers[i]), step / 2 * 1.0001f) << i << " of " << block;
    }
  }
}

TEST(WireFormat, Int8KnowsWholeNumbersZeroAndTheEnds) {
  EXPECT_EQ(through(WireFormat::int8, {127, -127, 0, 1, -64}, 5), (std::vector<float>{127, -127, 0, 1, -64}));
  EXPECT_EQ(through(WireFormat::int8, {0, 0, -0.0f}, 3), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(through(WireFormat::int8, {1e-35f, -1e-40f}, 2), (std::vector<float>{0, 0}));
  const float most = std::numeric_limits<float>::max() / 2;
  EXPECT_NEAR(through(WireFormat::int8, {most, -most / 2}, 2)[0] / most, 1, 0.01);
}

// One number that is not finite makes its block NaN, which servers refuse; the other blocks are not touched.
TEST(WireFormat, Int8MakesABlockNaNThatIsNotFinite) {
  for (const float bad : {kNaN, kInfinity, -kInfinity}) {
    const auto read = through(WireFormat::int8, {1, 2, bad, 4, 127}, 2);
    EXPECT_NEAR(read[0], 1, 0.01);
    EXPECT_TRUE(std::isnan(read[2]) && std::isnan(read[3]));
    EXPECT_EQ(read[4], 127);
  }
}

TEST(WireFormat, WhatIsLeftAndWhatCameMakeTheWhole) {
  for (const WireFormat format : {WireFormat::bfloat16, WireFormat::int8}) {
    auto numbers = random_numbers(300, 4);
    numbers[299] = kNaN;
    std::vector<std::byte> bytes(wire_bytes(format, numbers.size(), 10));
    round_to_wire(format, numbers, 10, bytes.data());
    std::vector<float> read(numbers.size()), left(numbers.size(), -99);
    read_from_wire(format, bytes.data(), 10, read);
    left_by_rounding(format, numbers, 10, bytes.data(), left);
    for (size_t i = 0; i < 290; ++i) ASSERT_FLOAT_EQ(read[i] + left[i], numbers[i]);
    EXPECT_EQ(left[299], 0);
  }
}

TEST(WireFormat, SizesAndNames) {
  EXPECT_EQ(wire_bytes(WireFormat::float32, 10, 10), 40u);
  EXPECT_EQ(wire_bytes(WireFormat::bfloat16, 10, 10), 20u);
  EXPECT_EQ(wire_bytes(WireFormat::int8, 10, 10), 12u);
  EXPECT_EQ(wire_bytes(WireFormat::int8, 257, 256), 261u);
  EXPECT_EQ(wire_bytes(WireFormat::int8, 0, 256), 0u);
  for (const WireFormat format : {WireFormat::float32, WireFormat::bfloat16, WireFormat::int8})
    EXPECT_EQ(wire_format_named(wire_format_name(format)), format);
  EXPECT_EQ(wire_format_named("float16"), std::nullopt);
}

TEST(WireFormat, KeysAreShortWhereAllOfThemFit) {
  std::vector<uint64_t> keys(1000);
  std::iota(keys.begin(), keys.end(), uint64_t{0xffffffff} - 999);
  for (const bool above : {false, true}) {
    if (above) keys[500] = uint64_t{1} << 32;
    const bool is_short = are_short(keys);
    EXPECT_EQ(is_short, !above);
    std::vector<std::byte> bytes(key_bytes(keys.size(), is_short) + 1);
    write_keys(keys, is_short, bytes.data() + 1);
    std::vector<uint64_t> read(keys.size());
    read_keys(bytes.data() + 1, is_short, read);
    EXPECT_EQ(read, keys);
  }
}

}  // namespace
}  // namespace argosy::ps
