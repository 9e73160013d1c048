#include "argosy/data/multislot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "argosy/base/random.h"
#include "argosy/data/number.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<SlotSpec> kSlots = {{.name = "dense", .type = SlotType::float32, .dense = true, .width = 3},
                                      {.name = "ids", .type = SlotType::int64, .dense = false, .width = 1},
                                      {.name = "weights", .type = SlotType::float32, .dense = false, .width = 1},
                                      {.name = "label", .type = SlotType::int64, .dense = true, .width = 1}};

// Text that ends where the padding starts, as the readers make it.
class Text {
 public:
  explicit Text(std::string text) : size_(text.size()), bytes_(std::move(text) + std::string(kTextPadding, '7')) {}
  const char* begin() const { return bytes_.data(); }
  const char* end() const { return bytes_.data() + size_; }

 private:
  size_t size_;
  std::string bytes_;
};

struct Parsed {
  Batch batch;
  LineError error;
  int64_t column = 0;  // of the error, from 1
  bool ok = true;
};

Parsed parse(const std::vector<SlotSpec>& slots, const std::string& lines) {
  const MultiSlotParser parser(slots);
  const Text text(lines);
  Parsed parsed;
  parsed.batch.reset(slots);
  for (const char* at = text.begin(); at < text.end();) {
    const char* next = parser.parse_line(at, parsed.batch, parsed.error);
    if (next == nullptr) {
      parsed.ok = false;
      parsed.column = parsed.error.at - at + 1;
      parsed.batch.drop_unfinished_sample();
      break;
    }
    at = next;
  }
  return parsed;
}

TEST(MultiSlot, FillsDenseAndRaggedColumns) {
  const Parsed parsed = parse(kSlots, "3 1 -2.5 0.25 2 7 0 1 1e-3 1 1\n3 0 0 0 1 18446744073709551615 2 3 4 1 0\n");
  ASSERT_TRUE(parsed.ok) << parsed.error.what;
  ASSERT_EQ(parsed.batch.size, 2);
  EXPECT_THAT(floats_of(parsed.batch.columns[0]), ElementsAre(1, -2.5f, 0.25f, 0, 0, 0));
  EXPECT_TRUE(parsed.batch.columns[0].offsets().empty());
  EXPECT_THAT(ints_of(parsed.batch.columns[1]), ElementsAre(7, 0, -1));  // id 0 is kept; a uint64 key keeps its bits
  EXPECT_THAT(offsets_of(parsed.batch.columns[1]), ElementsAre(0, 2, 3));
  EXPECT_THAT(floats_of(parsed.batch.columns[2]), ElementsAre(1e-3f, 3, 4));
  EXPECT_THAT(offsets_of(parsed.batch.columns[2]), ElementsAre(0, 1, 3));
  EXPECT_THAT(ints_of(parsed.batch.columns[3]), ElementsAre(1, 0));
}

TEST(MultiSlot, ColumnsStartOnACacheLine) {
  const Parsed parsed = parse(kSlots, "3 1 1 1 1 1 1 1 1 1\n");
  for (const Column& column : parsed.batch.columns) {
    const void* start = column.type() == SlotType::float32 ? static_cast<const void*>(column.floats()) : column.ints();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(start) % 64, 0u);
  }
}

// What generators on other systems and by hand leave in a line, and Paddle's reader takes.
TEST(MultiSlot, TakesExtraSpacesAndCarriageReturns) {
  for (const char* line :
       {"  3 1 2 3 1 4 1 5 1 6\n", "3  1\t2 3 1 4 1 5 1 6 \n", "3 1 2 3 1 4 1 5 1 6\r\n", "3 1 2 3 1 4 1 5 1 6 \r\n"}) {
    const Parsed parsed = parse(kSlots, line);
    EXPECT_TRUE(parsed.ok) << line << parsed.error.what;
    EXPECT_EQ(parsed.batch.size, 1);
  }
}

struct BadLine {
  const char* line;
  int64_t column;
  const char* what;
};

TEST(MultiSlot, SaysWhereAndWhyALineIsBad) {
  const BadLine cases[] = {
      {"\n", 1, "slot 'dense' (1 of 4): found the end of the line"},
      {"2 1 2 1 4 1 5 1 6\n", 1, "found '2' where the count is, expected 3"},
      {"3 1 2\n", 6, "slot 'dense' (1 of 4), value 3 of 3: found the end of the line, expected a float"},
      {"3 1 x 2\n", 5, "found 'x', expected a float"},
      {"3 1 2 3 0 1 5 1 6\n", 9, "slot 'ids' (2 of 4): found the count 0"},
      {"3 1 2 3 -1 5\n", 9, "found '-1', expected the count"},
      {"3 1 2 3 1 1.5 1 5 1 6\n", 11, "slot 'ids' (2 of 4), value 1 of 1: found '1.5', expected an integer"},
      {"3 1 2 3 1 18446744073709551616 1 5 1 6\n", 11, "expected an integer of 64 bits"},
      {"3 1 2 3 1 -9223372036854775809 1 5 1 6\n", 11, "expected an integer of 64 bits"},
      {"3 1 2 3 99999999999999 4 5\n", 27, "value 3 of 99999999999999"},
      {"3 1 2 3 99999999999999999999999 4\n", 9, "expected the count"},
      {"3 1 2 3 1 4 1 5 1 6 1 7\n", 21, "found '1' after the last slot 'label'"},
      {"3 1 2 3 1 4 1 5 1 6x\n", 19, "found '6x'"},
      {"3 1 2 3 1 4 1 5 1 \x01\x80\n", 19, "found '\\x01\\x80'"},
      {"3 1 2 3 1 4 1 5 1 6\rz\n", 20, "after the last slot"},
      {"3 1 2 3 1 4 1 0x10 1 6\n", 15, "found '0x10', expected a float"},
  };
  for (const BadLine& bad : cases) {
    const Parsed parsed = parse(kSlots, bad.line);
    EXPECT_FALSE(parsed.ok) << bad.line;
    EXPECT_EQ(parsed.column, bad.column) << bad.line << parsed.error.what;
    EXPECT_THAT(parsed.error.what, HasSubstr(bad.what)) << bad.line;
  }
}

// A bad line in the middle must leave the columns as they were before it.
TEST(MultiSlot, ABadLineLeavesNoTrace) {
  const MultiSlotParser parser(kSlots);
  const Text good("3 1 2 3 2 4 5 1 5 1 6\n"), bad("3 9 9 9 3 9 9 9 1 x\n");
  Batch batch;
  batch.reset(kSlots);
  LineError error;
  ASSERT_NE(parser.parse_line(good.begin(), batch, error), nullptr);
  ASSERT_EQ(parser.parse_line(bad.begin(), batch, error), nullptr);
  batch.drop_unfinished_sample();
  ASSERT_NE(parser.parse_line(good.begin(), batch, error), nullptr);
  EXPECT_EQ(batch.size, 2);
  EXPECT_THAT(floats_of(batch.columns[0]), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT(ints_of(batch.columns[1]), ElementsAre(4, 5, 4, 5));
  EXPECT_THAT(offsets_of(batch.columns[1]), ElementsAre(0, 2, 4));
}

TEST(MultiSlot, KeepsAllValuesOfALongSlot) {
  const int64_t count = 10'000;
  std::string line = fmt::format("{}", count);
  for (int64_t i = 0; i < count; ++i) line += fmt::format(" {}", i);
  const std::vector<SlotSpec> slots = {{.name = "ids", .type = SlotType::int64, .dense = false, .width = 1}};
  const Parsed parsed = parse(slots, line + "\n");
  ASSERT_TRUE(parsed.ok) << parsed.error.what;
  ASSERT_EQ(parsed.batch.columns[0].count(), count);
  for (int64_t i = 0; i < count; ++i) ASSERT_EQ(parsed.batch.columns[0].ints()[i], i);
}

std::string random_float(Random& random) {
  switch (random.below(6)) {
    case 0: return fmt::format("{}", random.below(100));
    case 1: return fmt::format("{:.6f}", random.uniform());
    case 2: return fmt::format("{}", random.normal());
    case 3: return fmt::format("{:e}", std::ldexp(random.normal(), static_cast<int>(random.below(300)) - 150));
    case 4: return fmt::format("{}.{}", random(), random());
    default: return fmt::format("-{:.{}f}", random.uniform() * 1e6, random.below(20));
  }
}

// The oracle: words split by a stream, values by strtof and strtoull.
TEST(MultiSlot, EqualsASimpleParserOnRandomLines) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  std::string lines;
  for (int line = 0; line < 2000; ++line) {
    lines += fmt::format("3 {} {} {}", random_float(random), random_float(random), random_float(random));
    const uint64_t ids = 1 + random.below(5), weights = 1 + random.below(4);
    lines += fmt::format(" {}", ids);
    for (uint64_t i = 0; i < ids; ++i) lines += fmt::format(" {}", random() >> random.below(64));
    lines += fmt::format(" {}", weights);
    for (uint64_t i = 0; i < weights; ++i) lines += fmt::format(" {}", random_float(random));
    lines += fmt::format(" 1 {}\n", static_cast<int64_t>(random.below(3)) - 1);
  }
  const Parsed parsed = parse(kSlots, lines);
  ASSERT_TRUE(parsed.ok) << parsed.error.what;
  std::istringstream words(lines);
  std::vector<int64_t> at(kSlots.size());
  for (int64_t line = 0; line < parsed.batch.size; ++line) {
    for (size_t slot = 0; slot < kSlots.size(); ++slot) {
      const Column& column = parsed.batch.columns[slot];
      int64_t count;
      words >> count;
      for (int64_t i = 0; i < count; ++i, ++at[slot]) {
        std::string word;
        words >> word;
        if (column.type() == SlotType::float32) {
          ASSERT_EQ(column.floats()[at[slot]], std::strtof(word.c_str(), nullptr)) << word;
        } else {
          ASSERT_EQ(column.ints()[at[slot]], static_cast<int64_t>(std::strtoull(word.c_str(), nullptr, 10))) << word;
        }
      }
    }
  }
  EXPECT_EQ(parsed.batch.size, 2000);
}

float read_one(const std::string& word) {
  const Text text(word + "\n");
  float value = -1;
  const char* end = read_float(text.begin(), value);
  EXPECT_TRUE(end != nullptr && *end == '\n') << word;
  return value;
}

// Decimals next to the middle of two floats are where a quick way rounds twice and goes wrong.
TEST(Number, RoundsOnceNearTheMiddleOfTwoFloats) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  for (int i = 0; i < 20000; ++i) {
    const float low = static_cast<float>(std::ldexp(1 + random.uniform(), static_cast<int>(random.below(40)) - 20));
    const double middle = (static_cast<double>(low) + std::nextafterf(low, INFINITY)) / 2;
    const std::string word = fmt::format("{:.{}f}", middle, 3 + random.below(17));
    ASSERT_EQ(read_one(word), std::strtof(word.c_str(), nullptr)) << word;
  }
}

TEST(Number, TakesWhatStrtofTakes) {
  for (const char* word :
       {"5.", ".5", "-.5", "+1.5", "1e5", "-0", "1e-46", "1e39", "-1e400", "1e-400", "inf", "-INF", "1.4e-45", "00000000012.5",
        "123456789", "99999999.99999999999", "0.0000000000000000000000001", "16777217", "12345678901234567890.5"}) {
    const float expected = std::strtof(word, nullptr), found = read_one(word);
    EXPECT_EQ(found, expected) << word;
    EXPECT_EQ(std::signbit(found), std::signbit(expected)) << word;
  }
  EXPECT_TRUE(std::isnan(read_one("nan")));
}

TEST(Number, IntegersHave64Bits) {
  const struct {
    const char* word;
    int64_t value;
  } cases[] = {{"0", 0},
               {"-1", -1},
               {"12345678", 12345678},
               {"123456789", 123456789},
               {"1234567890123456", 1234567890123456},
               {"00000000000000000000000000000007", 7},
               {"9223372036854775807", INT64_MAX},
               {"-9223372036854775808", INT64_MIN},
               {"18446744073709551615", -1}};
  for (const auto& [word, value] : cases) {
    const Text text(std::string(word) + "\n");
    int64_t found;
    ASSERT_NE(read_int64(text.begin(), found), nullptr) << word;
    EXPECT_EQ(found, value) << word;
  }
}

TEST(Slots, AreCheckedBeforeAnythingIsRead) {
  EXPECT_THAT(check_slots({}).message(), HasSubstr("no slots"));
  const std::vector<SlotSpec> twice = {kSlots[0], kSlots[0]};
  EXPECT_THAT(check_slots(twice).message(), HasSubstr("'dense' is given twice"));
  const std::vector<SlotSpec> flat = {{.name = "x", .type = SlotType::float32, .dense = true, .width = 0}};
  EXPECT_THAT(check_slots(flat).message(), HasSubstr("width 0"));
  EXPECT_TRUE(check_slots(kSlots).ok());
}

TEST(Batch, KeepsItsBuffersBetweenRounds) {
  Parsed parsed = parse(kSlots, "3 1 2 3 1 4 1 5 1 6\n");
  const float* before = parsed.batch.columns[0].floats();
  parsed.batch.reset(kSlots);
  EXPECT_EQ(parsed.batch.columns[0].floats(), before);
  EXPECT_EQ(parsed.batch.columns[0].count(), 0);
  EXPECT_THAT(offsets_of(parsed.batch.columns[1]), ElementsAre(0));
}

}  // namespace
}  // namespace argosy::data
