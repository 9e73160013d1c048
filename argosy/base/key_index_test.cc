#include "argosy/base/key_index.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "argosy/base/random.h"

namespace argosy {
namespace {

TEST(KeyIndexTest, NumbersKeysInOrderOfFirstAppearance) {
  KeyIndex index;
  index.reset(5);
  EXPECT_EQ(index.add(7), 0u);
  EXPECT_EQ(index.add(~uint64_t{0}), 1u);
  EXPECT_EQ(index.add(7), 0u);
  EXPECT_EQ(index.add(0), 2u);
  EXPECT_EQ(std::vector<uint64_t>(index.keys().begin(), index.keys().end()), (std::vector<uint64_t>{7, ~uint64_t{0}, 0}));
}

TEST(KeyIndexTest, ForgetsOnResetAndKeepsWhenItGrows) {
  KeyIndex index;
  index.reset(1);
  index.add(3);
  index.reserve_more(100'000);
  for (uint64_t key = 0; key < 100'000; ++key) index.add(key);
  EXPECT_EQ(index.add(3), 0u);
  EXPECT_EQ(index.size(), 100'000u);
  index.reset(1);
  EXPECT_EQ(index.size(), 0u);
  EXPECT_EQ(index.add(4), 0u);
}

// Against std::unordered_map over many steps of one index, with few and with many repeats.
TEST(KeyIndexTest, AgreesWithAMapOverManySteps) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  KeyIndex index;
  for (int step = 0; step < 200; ++step) {
    const uint64_t range = 1 + random.below(2000);
    const size_t count = random.below(3000);
    std::unordered_map<uint64_t, uint32_t> model;
    index.reset(count);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t key = random.below(range) << (step % 40);
      const uint32_t number = model.emplace(key, static_cast<uint32_t>(model.size())).first->second;
      ASSERT_EQ(index.add(key), number);
    }
    ASSERT_EQ(index.size(), model.size());
  }
}

}  // namespace
}  // namespace argosy
