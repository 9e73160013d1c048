#include "argosy/base/post.h"

#include <gmock/gmock.h>

#include "argosy/base/line_socket.h"
#include "argosy/base/random.h"

namespace argosy {
namespace {

TEST(PostLine, IsALineAndComesBack) {
  const PostLine lines[] = {{PostLine::Kind::welcome, 1, "argosy 1 abc"},
                            {PostLine::Kind::letter, 12, "join rank=-1"},
                            {PostLine::Kind::letter, 3, ""},
                            {PostLine::Kind::gone, 2147483647, "x"},
                            {PostLine::Kind::lost, 0, "the store has ended"}};
  for (const PostLine& line : lines) EXPECT_EQ(*parse_post_line(to_line(line)), line);
  EXPECT_EQ(to_line(lines[1]), "letter 12 join rank=-1");
}

TEST(PostLine, WhatNobodyWritesIsAnError) {
  for (const char* line : {"", "letter", "letter 1", "letter 0 x", "letter -1 x", "letter +1 x", "letter 01 x", "letter 1x x",
                           "letter 2147483648 x", "Letter 1 x", " letter 1 x", "letter 1 x\ngone 2 y", "lost", "GET / HTTP/1.1"})
    EXPECT_FALSE(parse_post_line(line).ok()) << line;
  EXPECT_FALSE(parse_post_line("letter 1 " + std::string(kLongestLine, 'a')).ok());
  EXPECT_THAT(parse_post_line("GET\nx").status().message(), testing::HasSubstr("'GET' is no line of a store's keeper"));
}

TEST(PostLine, RandomBytesComeBackOrAreRefused) {
  const uint64_t seed = 20261116;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string line = i % 2 == 0 ? "letter " : "";
    const size_t size = random.below(20);
    for (size_t j = 0; j < size; ++j)
      line += static_cast<char>(random.below(2) == 0 ? '0' + random.below(10) : random.below(256));
    const auto parsed = parse_post_line(line);
    EXPECT_TRUE(!parsed.ok() || to_line(*parsed) == line) << line;
  }
}

}  // namespace
}  // namespace argosy
