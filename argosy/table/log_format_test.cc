#include "argosy/table/log_format.h"

#include <gtest/gtest.h>

#include <random>

#include "argosy/base/random.h"

namespace argosy::table {
namespace {

RecordHeader random_header(Random& random) {
  return {.length = random() >> random.below(64), .checksum = random(), .batch = random() >> random.below(64)};
}

bool same(const RecordHeader& a, const RecordHeader& b) {
  return a.length == b.length && a.checksum == b.checksum && a.batch == b.batch;
}

TEST(LogFormat, HeadersAreWhatTheyWere) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 1000; ++trial) {
    const uint64_t position = random();
    const RecordHeader header = random_header(random);
    const auto found = decode_record_header(encode_record_header(header, position), position);
    ASSERT_TRUE(found && same(*found, header));
    ASSERT_EQ(decode_segment_header(encode_segment_header(position)), position);
  }
}

// A disk that flips a bit, or writes part of a sector: no other header comes of it.
TEST(LogFormat, EveryFlippedBitIsSeen) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 30; ++trial) {
    const uint64_t position = random();
    const HeaderBytes record = encode_record_header(random_header(random), position), segment = encode_segment_header(position);
    for (size_t bit = 0; bit < record.size() * 8; ++bit) {
      for (const HeaderBytes& good : {record, segment}) {
        HeaderBytes bad = good;
        bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        ASSERT_EQ(decode_segment_header(bad), std::nullopt) << bit;
        ASSERT_FALSE(decode_record_header(bad, position)) << bit;
      }
    }
  }
}

// Bytes of an older log that come to lie elsewhere, as in a file that is used again, are no records of this one.
TEST(LogFormat, ARecordElsewhereIsNone) {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const uint64_t position = random.below(1 << 20) * 8;
    const HeaderBytes bytes = encode_record_header(random_header(random), position);
    for (const uint64_t other : {position + 8, position + 4096, position + (uint64_t{1} << 40), position ^ 1}) {
      ASSERT_FALSE(decode_record_header(bytes, other));
    }
    ASSERT_TRUE(decode_record_header(bytes, position));
  }
}

TEST(LogFormat, ZerosAndEachOthersHeadersAreNone) {
  EXPECT_EQ(decode_segment_header(HeaderBytes{}), std::nullopt);
  EXPECT_FALSE(decode_record_header(HeaderBytes{}, 0));
  EXPECT_FALSE(decode_record_header(encode_segment_header(0), 0));
  EXPECT_EQ(decode_segment_header(encode_record_header({}, 0)), std::nullopt);
}

// Every record begins at a multiple of 8, whatever its length.
TEST(LogFormat, RecordsAreFilledUpToAMultipleOfEight) {
  for (uint64_t length = 0; length < 100; ++length) {
    EXPECT_LT(padding_after(length), 8u);
    EXPECT_EQ(record_size(length) % 8, 0u);
    EXPECT_EQ(record_size(length), kRecordHeaderSize + length + padding_after(length));
  }
  EXPECT_EQ(record_size(0), kRecordHeaderSize);
  EXPECT_EQ(record_size(8), kRecordHeaderSize + 8);
}

}  // namespace
}  // namespace argosy::table
