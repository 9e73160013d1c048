#include "argosy/data/message_bytes.h"

#include <gtest/gtest.h>

#include <random>

namespace argosy::data {
namespace {

// A message is one line whatever is in it, and comes back as it was.
TEST(MessageBytes, AnyBytesAreALineAndComeBack) {
  std::mt19937 random(7);
  for (size_t size = 0; size < 300; ++size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i) bytes += i % 3 == 0 ? "\\\nn\0"[random() % 4] : static_cast<char>(random());
    std::string text = "before\n", back;
    append_bytes_line(bytes, text);
    ASSERT_EQ(text.find('\n', 7), text.size() - 1);
    ASSERT_TRUE(bytes_of_line(std::string_view(text).substr(7, text.size() - 8), back));
    EXPECT_EQ(back, bytes);
  }
}

TEST(MessageBytes, OtherLinesAreSeen) {
  std::string bytes;
  for (const std::string line : {"\\", "a\\b", "a\\\\\\"}) EXPECT_FALSE(bytes_of_line(line, bytes)) << line;
}

}  // namespace
}  // namespace argosy::data
