#include "argosy/table/slot_index.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>
#include <vector>

#include "argosy/base/random.h"

namespace argosy::table {
namespace {

// Rows that are keys and nothing else.
struct Keys {
  const std::vector<uint64_t>& keys;
  uint32_t hashes;

  uint32_t hash_of_key(uint64_t key) const { return static_cast<uint32_t>(mix64(key) % hashes * 0x9e3779b1u); }
  uint64_t key(uint32_t slot) const { return keys[slot]; }
  uint32_t hash(uint32_t slot) const { return hash_of_key(keys[slot]); }
  void prefetch(uint32_t) const {}
};

// Random insertions and erasures against std::unordered_map. With few distinct hashes, buckets overflow into their
// neighbours all the time, and the counts of what they passed on go up and down.
void compare_with_a_map(uint32_t hashes, uint64_t most_keys) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  SlotIndex index;
  std::unordered_map<uint64_t, uint32_t> expected;
  std::vector<uint64_t> keys;  // by slot
  const Keys rows{keys, hashes};
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t key = random.below(most_keys);
    const auto found = expected.find(key);
    ASSERT_EQ(index.find(rows.hash_of_key(key), key, rows), found == expected.end() ? kNoSlot : found->second);
    if (found == expected.end()) {
      keys.push_back(key);
      const auto slot = static_cast<uint32_t>(keys.size() - 1);
      index.insert(rows.hash_of_key(key), slot, rows);
      expected[key] = slot;
    } else if (random.below(3) > 0) {
      index.erase(rows.hash_of_key(key), found->second);
      expected.erase(found);
    }
    ASSERT_EQ(index.size(), expected.size());
  }
}

TEST(SlotIndex, AgreesWithAMap) { compare_with_a_map(1u << 31, 3000); }
TEST(SlotIndex, AgreesWithAMapWhereHashesCollide) { compare_with_a_map(5, 200); }
TEST(SlotIndex, AgreesWithAMapWhereCountsRunOver) { compare_with_a_map(2, 2000); }

TEST(SlotIndex, TakesFewBytesAKey) {
  SlotIndex index;
  std::vector<uint64_t> keys;
  const Keys rows{keys, 1u << 31};
  for (uint32_t i = 0; i < 100'000; ++i) {
    keys.push_back(i);
    index.insert(rows.hash_of_key(i), i, rows);
    if (i > 1000) {
      ASSERT_LT(static_cast<double>(index.bytes()) / i, 13);
    }
  }
}

}  // namespace
}  // namespace argosy::table
