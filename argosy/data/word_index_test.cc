#include "argosy/data/word_index.h"

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>

#include "argosy/base/random.h"
#include "argosy/data/words.h"

namespace argosy::data {
namespace {

// Short words over few bytes, zeros among them, so that many begin alike and differ in length only.
std::string drawn(Random& random) {
  std::string word(random.below(12), '\0');
  for (char& c : word) c = "ab\0"[random.below(3)];
  return word;
}

// Against std::unordered_map, over several growths of the table.
TEST(WordIndex, NumbersWordsInOrderOfAppearance) {
  const uint64_t seed = 5;
  Random random(seed);
  WordIndex index;
  std::unordered_map<std::string, uint32_t> expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string word = drawn(random);
    const auto [place, made] = expected.try_emplace(word, static_cast<uint32_t>(expected.size()));
    EXPECT_EQ(index.find(word), made ? WordIndex::kNone : place->second) << "seed " << seed << ", word " << i;
    ASSERT_EQ(index.add(word), place->second) << "seed " << seed << ", word " << i;
  }
  ASSERT_EQ(index.size(), expected.size());
  EXPECT_GT(index.size(), 2048u) << "the table has grown";
  for (const auto& [word, number] : expected) {
    EXPECT_EQ(index.find(word), number);
    EXPECT_EQ(index.word(number), word);
  }
}

TEST(WordIndex, AWordOfAnotherLengthIsAnother) {
  WordIndex index;
  const std::string words[] = {"", std::string(1, '\0'), std::string(8, '\0'), std::string(9, '\0'), "a", std::string("a\0", 2)};
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(index.add(words[i]), i);
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(index.find(words[i]), i);
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  const char* end = for_each_word(line.data(), [&](std::string_view word) { words.emplace_back(word); });
  EXPECT_EQ(*end, '\n');
  return words;
}

TEST(Words, AreWhatStandsBetweenSpaces) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of("\n"), Words{});
  EXPECT_EQ(words_of(" \t\r\n"), Words{});
  EXPECT_EQ(words_of("one\n"), Words{"one"});
  EXPECT_EQ(words_of("  one\ttwo \r\n three\n"), (Words{"one", "two"})) << "up to the end of the line";
  EXPECT_EQ(words_of("a\u00a0b\v c\n"), (Words{"a\u00a0b\v", "c"})) << "other space is part of words";
}

std::string refusal_of(const std::string& line) {
  LineError error;
  return check_utf8((line + "\n").c_str(), error) != nullptr ? "" : error.what;
}

TEST(Words, OnlyShortestFormsOfCharactersAreUtf8) {
  for (const char* good : {"", "plain", "\u00e9", "\u20ac", "\U0001f600", "\U0010ffff", "\ud7ff", "\ue000"})
    EXPECT_EQ(refusal_of(good), "") << good;
  for (const char* bad : {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xe2\x82",
                          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "ok \xe2\x28\xa1"})
    EXPECT_NE(refusal_of(bad), "") << "bytes that are no character";
}

}  // namespace
}  // namespace argosy::data
