#include "argosy/ps/spec/file_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "argosy/base/random.h"

namespace argosy::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FileLines, RangesThatTouchAreOne) {
  FileLines lines;
  lines.add(3, {1, 5});
  lines.add(3, {11, 5});
  lines.add(4, {6, 5});
  EXPECT_THAT(lines.of(3), ElementsAre(LineRange{1, 5}, LineRange{11, 5}));
  EXPECT_FALSE(lines.covers(3, {5, 2}));
  lines.add(3, {6, 5});
  EXPECT_THAT(lines.of(3), ElementsAre(LineRange{1, 15}));
  EXPECT_TRUE(lines.covers(3, {5, 2}));
  EXPECT_EQ(lines.count(3), 15u);
  lines.remove(3, {1, 15});
  EXPECT_THAT(lines.of(3), IsEmpty());
  EXPECT_THAT(lines.of(4), ElementsAre(LineRange{6, 5}));
}

TEST(FileLines, NumbersOfAPeerDoNotWrapAround) {
  constexpr uint64_t most = std::numeric_limits<uint64_t>::max();
  FileLines lines;
  lines.add(0, {most - 1, most});
  lines.add(0, {5, 0});
  EXPECT_THAT(lines.of(0), ElementsAre(LineRange{most - 1, 1}));
}

TEST(FileLines, IsTheSetOfTheLinesThatWereAddedAndNotRemoved) {
  Random random(7);
  FileLines lines;
  std::set<uint64_t> expected;
  for (int i = 0; i < 3000; ++i) {
    const LineRange range{1 + random.below(60), random.below(8)};
    const bool add = random.below(2) == 0;
    add ? lines.add(1, range) : lines.remove(1, range);
    for (uint64_t line = range.first; line < range.first + range.count; ++line)
      add ? (void)expected.insert(line) : (void)expected.erase(line);
    ASSERT_EQ(lines.count(1), expected.size());
    for (uint64_t line = 1; line < 70; ++line) ASSERT_EQ(lines.covers(1, {line, 1}), expected.contains(line)) << line;
  }
}

}  // namespace
}  // namespace argosy::ps
