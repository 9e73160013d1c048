#include "argosy/ps/client/push_rounder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "argosy/base/random.h"
#include "argosy/ps/spec/packed.h"

namespace argosy::ps {
namespace {

constexpr uint32_t kWidth = 4;
constexpr uint64_t kElements = 1000;

// A table of rows and a dense one, by one format.
JobSpec job(WireFormat format) {
  JobSpec spec;
  spec.tables = {{.name = "emb", .sparse = true, .width = kWidth}, {.name = "w", .size = kElements}};
  for (TableSpec& table : spec.tables) table.wire_format = format;
  return spec;
}

std::vector<float> drawn(Random& random, size_t count, double size = 1) {
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.normal() * size);
  return numbers;
}

// What a server reads from what the rounder has written.
std::vector<float> dense_as_read(PushRounder& rounder, WireFormat format, uint64_t begin, const std::vector<float>& gradient) {
  std::vector<std::byte> wire(wire_bytes(format, gradient.size(), kWireBlock));
  rounder.round_dense(1, begin, gradient, wire.data());
  std::vector<float> read(gradient.size());
  read_from_wire(format, wire.data(), kWireBlock, read);
  return read;
}
std::vector<float> rows_as_read(PushRounder& rounder, WireFormat format, const std::vector<uint64_t>& keys,
                                const std::vector<float>& rows) {
  std::vector<std::byte> wire(wire_bytes(format, rows.size(), kWidth));
  rounder.round_rows(0, keys, rows, wire.data());
  std::vector<float> read(rows.size());
  read_from_wire(format, wire.data(), kWidth, read);
  return read;
}

TEST(PushRounder, SaysWhetherAnythingIsRounded) {
  const JobSpec plain = job(WireFormat::float32), half = job(WireFormat::bfloat16), eighth = job(WireFormat::int8);
  EXPECT_FALSE(PushRounder(plain).rounds());
  EXPECT_TRUE(PushRounder(half).rounds());
  EXPECT_FALSE(PushRounder(half).has_feedback());
  EXPECT_TRUE(PushRounder(eighth).has_feedback());
  JobSpec mixed = job(WireFormat::float32);
  mixed.tables[1].wire_format = WireFormat::int8;
  const PushRounder rounder(mixed);
  EXPECT_TRUE(rounder.rounds() && rounder.has_feedback()) << "one table is enough";
}

// float32 and bfloat16 keep nothing: the same push is the same bytes, however often and after whatever.
TEST(PushRounder, WithoutFeedbackAPushIsAFunctionOfItsNumbers) {
  Random random(1);
  for (const WireFormat format : {WireFormat::float32, WireFormat::bfloat16}) {
    const JobSpec spec = job(format);
    PushRounder rounder(spec);
    const auto gradient = drawn(random, 300), rows = drawn(random, 2 * kWidth);
    const auto dense = dense_as_read(rounder, format, 10, gradient), sparse = rows_as_read(rounder, format, {3, 4}, rows);
    dense_as_read(rounder, format, 10, drawn(random, 300));
    rows_as_read(rounder, format, {3, 4}, drawn(random, 2 * kWidth));
    EXPECT_EQ(dense_as_read(rounder, format, 10, gradient), dense);
    EXPECT_EQ(rows_as_read(rounder, format, {3, 4}, rows), sparse);
    for (size_t i = 0; i < gradient.size(); ++i) EXPECT_NEAR(dense[i], gradient[i], std::abs(gradient[i]) / 256);
    if (format == WireFormat::float32) {
      EXPECT_EQ(sparse, rows);
    }
  }
}

// Error feedback: what was pushed in all, and what is left to push, is what the gradients were in all; so a sum of any number of
// pushes is never further off than the rounding of one.
TEST(PushRounder, WhatInt8LeavesOutOfADenseTableComesLater) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const JobSpec spec = job(WireFormat::int8);
  PushRounder rounder(spec);
  std::vector<double> wanted(kElements), pushed(kElements);
  double largest = 0;
  for (int push = 0; push < 200; ++push) {
    const uint64_t begin = random.below(kElements), size = 1 + random.below(kElements - begin);
    const auto gradient = drawn(random, size, std::exp(random.normal()));
    const auto read = dense_as_read(rounder, WireFormat::int8, begin, gradient);
    for (size_t i = 0; i < size; ++i) {
      wanted[begin + i] += gradient[i];
      pushed[begin + i] += read[i];
      largest = std::max(largest, std::abs(double{read[i]}));
    }
  }
  for (size_t i = 0; i < kElements; ++i) ASSERT_NEAR(pushed[i], wanted[i], largest / 127) << i;
}

TEST(PushRounder, WhatInt8LeavesOutOfARowComesWithItsNextPush) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const JobSpec spec = job(WireFormat::int8);
  PushRounder rounder(spec);
  std::map<uint64_t, std::vector<double>> difference;
  double largest = 0;
  for (int push = 0; push < 2000; ++push) {
    std::vector<uint64_t> keys;
    for (uint64_t key = 0; key < 20; ++key) {
      if (random.below(3) == 0) keys.push_back(key * 1'000'003);
    }
    const auto rows = drawn(random, keys.size() * kWidth);
    const auto read = rows_as_read(rounder, WireFormat::int8, keys, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      auto& sum = difference.try_emplace(keys[i / kWidth], kWidth, 0.0).first->second;
      sum[i % kWidth] += double{rows[i]} - read[i];
      largest = std::max(largest, std::abs(double{read[i]}));
    }
  }
  for (const auto& [key, sum] : difference) {
    for (const double left : sum) ASSERT_LE(std::abs(left), largest / 127) << "row " << key;
  }
}

// A gradient that is far below the scale of its block is not lost: it is pushed once enough of it has come together.
TEST(PushRounder, SmallGradientsAddUpUntilTheyAreSent) {
  const JobSpec spec = job(WireFormat::int8);
  PushRounder rounder(spec);
  double sum = 0;
  for (int push = 0; push < 1000; ++push) sum += dense_as_read(rounder, WireFormat::int8, 0, {1000, 0.1f})[1];
  EXPECT_NEAR(sum, 100, 1000.0 / 127);
}

// What is left of one key is no other key's, and what is left of a table no other table's.
TEST(PushRounder, RowsAndTablesKeepTheirOwn) {
  const JobSpec spec = job(WireFormat::int8);
  PushRounder rounder(spec);
  const std::vector<float> uneven = {1000, 0.3f, 0.3f, 0.3f}, zero(kWidth, 0);
  const auto first = rows_as_read(rounder, WireFormat::int8, {7}, uneven);
  EXPECT_EQ(first[1], 0) << "rounded away";
  EXPECT_EQ(rows_as_read(rounder, WireFormat::int8, {8}, zero), zero);
  EXPECT_EQ(dense_as_read(rounder, WireFormat::int8, 0, zero), zero);
  const auto later = rows_as_read(rounder, WireFormat::int8, {8, 7}, std::vector<float>(2 * kWidth, 0));
  EXPECT_EQ(std::vector<float>(later.begin(), later.begin() + kWidth), zero);
  EXPECT_NEAR(later[kWidth + 1], 0.3f, 0.01) << "what was left of key 7, wherever it stands";
}

// A NaN is passed on, so that servers can refuse or skip it, and does not stay behind in later pushes.
TEST(PushRounder, ANumberThatIsNotFiniteIsPushedOnce) {
  const JobSpec spec = job(WireFormat::int8);
  PushRounder rounder(spec);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_TRUE(std::isnan(dense_as_read(rounder, WireFormat::int8, 5, {1, bad, 3})[0]));
    EXPECT_TRUE(std::isnan(rows_as_read(rounder, WireFormat::int8, {9}, {1, bad, 3, 4})[2]));
    for (const float number : dense_as_read(rounder, WireFormat::int8, 5, {1, 2, 3})) EXPECT_TRUE(std::isfinite(number));
    for (const float number : rows_as_read(rounder, WireFormat::int8, {9}, {1, 2, 3, 4})) EXPECT_TRUE(std::isfinite(number));
  }
}

}  // namespace
}  // namespace argosy::ps
