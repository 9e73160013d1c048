// Words are drawn as often as they should be, exactly: by the whole range of bits, not by counting draws.
#include "argosy/data/word_sampler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

constexpr double kAll = 4294967296.0;

class WordSamplerTest : public testing::Test {
 protected:
  Vocabulary vocabulary_of(const std::vector<int64_t>& counts) {
    std::string text;
    for (size_t i = 0; i < counts.size(); ++i) text += fmt::format("word{} {}\n", i, counts[i]);
    auto vocabulary = Vocabulary::read(files_.write("vocabulary", text));
    EXPECT_TRUE(vocabulary.ok()) << vocabulary.status().message();
    return std::move(*vocabulary);
  }

  // How much of all bits each word has. A column is one word up to a threshold, which is searched for, and another from there on.
  static std::vector<double> shares(const WordSampler& sampler, size_t words) {
    std::vector<double> shares(words);
    for (uint64_t column = 0; column < words; ++column) {
      const uint64_t upper = ((column << 32) + words - 1) / words << 32;
      const int64_t below = sampler.word(upper), above = sampler.word(upper | 0xffffffff);
      uint64_t low = 0, high = 0xffffffff;  // low: `below`; high: `above`
      while (low + 1 < high) {
        const uint64_t middle = (low + high) / 2;
        (sampler.word(upper | middle) == below ? low : high) = middle;
      }
      shares[static_cast<size_t>(below)] += static_cast<double>(high) / kAll / static_cast<double>(words);
      shares[static_cast<size_t>(above)] += (kAll - static_cast<double>(high)) / kAll / static_cast<double>(words);
    }
    return shares;
  }

  ScratchFiles files_;
};

TEST_F(WordSamplerTest, SharesAreThePowersOfTheCounts) {
  const std::vector<std::vector<int64_t>> all = {{7}, {5, 5}, {1000, 1}, {900, 50, 50, 7, 3, 1, 1}, {64, 32, 16, 8, 4, 2, 1, 1}};
  for (const auto& counts : all) {
    const Vocabulary vocabulary = vocabulary_of(counts);
    for (const double power : {0.0, 0.75, 1.0}) {
      double sum = 0;
      for (const int64_t count : counts) sum += std::pow(static_cast<double>(count), power);
      const std::vector<double> found = shares(WordSampler(vocabulary, power), counts.size());
      for (size_t i = 0; i < counts.size(); ++i)
        EXPECT_NEAR(found[i], std::pow(static_cast<double>(counts[i]), power) / sum, 1e-8) << "word " << i << ", power " << power;
    }
  }
}

// Any bits are a word of the vocabulary, those at both ends too.
TEST_F(WordSamplerTest, AllBitsAreWords) {
  const WordSampler sampler(vocabulary_of({9, 5, 2, 1, 1}), 0.75);
  uint64_t bits = 0;
  for (int i = 0; i < 10'000; ++i, bits += 0x9e3779b97f4a7c15) {
    const int64_t word = sampler.word(bits);
    ASSERT_TRUE(word >= 0 && word < 5) << bits;
  }
  EXPECT_LT(sampler.word(~uint64_t{0}), 5);
}

}  // namespace
}  // namespace argosy::data
