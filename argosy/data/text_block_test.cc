#include "argosy/data/text_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "argosy/base/random.h"
#include "argosy/data/line_parser.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A text that arrives in pieces of any size, and then ends, or fails.
class Pieces : public ByteStream {
 public:
  Pieces(std::string text, uint64_t seed, size_t most, Status end = {})
      : text_(std::move(text)), random_(seed), most_(most), end_(std::move(end)) {}

  Result<size_t> read(std::span<char> room) override {
    EXPECT_FALSE(room.empty());
    const size_t left = text_.size() - at_;
    if (left == 0 && !end_.ok()) return end_;
    const size_t size = std::min({left, room.size(), size_t{1} + random_.below(most_)});
    std::memcpy(room.data(), text_.data() + at_, size);
    at_ += size;
    return size;
  }

 private:
  const std::string text_;
  Random random_;
  const size_t most_;
  const Status end_;
  size_t at_ = 0;
};

std::shared_ptr<const TextOrigin> origin() {
  auto made = std::make_shared<TextOrigin>();
  made->path = "part-7";
  return made;
}

// So many lines, most of them short, some of them empty, a few longer than a block.
std::string random_text(Random& random, uint64_t lines) {
  std::string text;
  for (uint64_t i = 0; i < lines; ++i) {
    const uint64_t kind = random.below(200);
    const uint64_t size = kind == 0 ? 1'500'000 + random.below(100'000) : kind < 20 ? 0 : random.below(300);
    text.append(size, static_cast<char>('a' + i % 26));
    text += '\n';
  }
  return text;
}

// Whatever pieces a text comes in and however many lines a block should hold: the blocks one after another are the text, each of
// whole lines, and their line numbers are those of the file.
TEST(BlockReader, BlocksAreTheTextInWholeLines) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 12; ++trial) {
    std::string text = random_text(random, random.below(1500));
    const bool whole = random.below(2) == 0;
    if (!whole) text += "the last line has no end";
    const auto lines = static_cast<int64_t>(random.below(40));
    BlockReader reader(std::make_unique<Pieces>(text, random(), random.below(2) == 0 ? 100 : 1'000'000), origin(), lines);
    if (!whole) text += '\n';
    std::string found;
    int64_t next_line = 1;
    TextBlock block;
    for (;;) {
      const auto more = reader.next(block);
      ASSERT_TRUE(more.ok()) << more.status().message();
      if (!*more) break;
      const std::string_view here(block.text.data(), block.size);
      ASSERT_GT(block.size, 0u);
      ASSERT_EQ(here.back(), '\n');
      ASSERT_EQ(block.at, 0u);
      ASSERT_EQ(block.lines, std::ranges::count(here, '\n'));
      ASSERT_EQ(block.line, next_line);
      ASSERT_EQ(block.origin->path, "part-7");
      next_line += block.lines;
      found += here;
      for (size_t i = 0; i < kTextPadding; ++i) ASSERT_EQ(block.text.data()[block.size + i], 0) << "bytes that a parser may read";
    }
    ASSERT_TRUE(found == text) << found.size() << " of " << text.size() << " bytes";
    const auto after = reader.next(block);
    ASSERT_TRUE(after.ok() && !*after) << "the end stays the end";
  }
}

// A batch then seldom needs two blocks: every block but the last has a multiple of the lines that were asked for.
TEST(BlockReader, BlocksOfShortLinesAreMultiples) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "1 2 3 4 5\n";
  BlockReader reader(std::make_unique<Pieces>(text, 1, 70'000), origin(), 96);
  TextBlock block;
  std::vector<int64_t> lines;
  for (;;) {
    const auto more = reader.next(block);
    ASSERT_TRUE(more.ok());
    if (!*more) break;
    lines.push_back(block.lines);
  }
  ASSERT_GT(lines.size(), 3u) << "small enough to be shared by threads";
  for (size_t i = 0; i + 1 < lines.size(); ++i) EXPECT_EQ(lines[i] % 96, 0) << i;
}

TEST(BlockReader, NothingIsNoBlock) {
  BlockReader reader(std::make_unique<Pieces>("", 1, 1), origin(), 1);
  TextBlock block;
  const auto more = reader.next(block);
  ASSERT_TRUE(more.ok());
  EXPECT_FALSE(*more);
}

// What was read before a stream fails is not lines of a file: only whole lines before the failure come, and then the reason.
TEST(BlockReader, AFailureIsSaidAndNoHalfLineComes) {
  const Status broken = Status::data_loss("the archive is cut off");
  BlockReader reader(std::make_unique<Pieces>("one\ntwo\nthr", 1, 2, broken), origin(), 1);
  TextBlock block;
  for (int calls = 0; calls < 3; ++calls) {
    const auto more = reader.next(block);
    if (more.ok()) {
      ASSERT_TRUE(*more);
      EXPECT_EQ(std::string_view(block.text.data(), block.size).find("thr"), std::string_view::npos);
      continue;
    }
    EXPECT_EQ(more.status().message(), broken.message());
    return;
  }
  FAIL() << "nobody was told";
}

// A file that is no text has no line ends: the message says where the line began.
TEST(BlockReader, ALineWithoutEndIsRefusedByFileAndLine) {
  std::string text = "short\nshort\n";
  text.append(BlockReader::kLongestLine + (1 << 20), 'x');
  BlockReader reader(std::make_unique<Pieces>(text, 1, 8 << 20), origin(), 1);
  TextBlock block;
  auto more = reader.next(block);
  while (more.ok() && *more) more = reader.next(block);
  EXPECT_EQ(more.status().code(), Code::invalid_argument);
  EXPECT_THAT(more.status().message(), AllOf(HasSubstr("part-7:3:"), HasSubstr("64 MiB"), HasSubstr("one sample a line")));
}

TEST(BlockReader, TheClockTicksWithTextOnly) {
  TextClock clock;
  BlockReader reader(std::make_unique<Pieces>("a\nb\n", 1, 1), origin(), 1, &clock);
  TextBlock block;
  ASSERT_TRUE(reader.next(block).ok());
  const double before = clock.silent_seconds();
  const auto more = reader.next(block);
  ASSERT_TRUE(more.ok() && !*more);
  EXPECT_GE(clock.silent_seconds(), before) << "an end is no text";
}

// A block is used again for the next text: nothing of the earlier, longer one is left in it.
TEST(TextBlock, IsRecycledWithoutATrace) {
  TextBlock block;
  BlockReader first(std::make_unique<Pieces>(std::string(1000, 'x') + "\n", 1, 5000), origin(), 1);
  ASSERT_TRUE(*first.next(block));
  block.at = block.size;
  EXPECT_TRUE(block.done());
  BlockReader second(std::make_unique<Pieces>("ab\ncd\n", 1, 5000), origin(), 1);
  ASSERT_TRUE(*second.next(block));
  EXPECT_FALSE(block.done());
  EXPECT_EQ(std::string(block.begin(), block.size), "ab\ncd\n");
  EXPECT_EQ(block.line, 1);
  EXPECT_EQ(block.lines, 2);
}

}  // namespace
}  // namespace argosy::data
