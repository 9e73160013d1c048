#include "argosy/ps/client/row_split.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "argosy/base/random.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {
namespace {

using Lists = std::vector<std::vector<uint64_t>>;

Lists random_lists(Random& random) {
  Lists lists(1 + random.below(4));
  for (auto& list : lists) {
    list.resize(random.below(4) == 0 ? random.below(3) : random.below(200));
    for (uint64_t& key : list) key = random.below(2) == 0 ? random.below(1000) : random();
  }
  return lists;
}

void assign(RowSplit& split, const Lists& lists, int servers) {
  const std::vector<std::span<const uint64_t>> spans(lists.begin(), lists.end());
  split.assign(spans, servers);
}

// Of each list, the keys of each server in the order of the list: what server_of() says of each key, and the same again after a
// larger and a smaller split with one object.
TEST(RowSplit, IsWhatServerOfSaysOfEachKey) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  RowSplit split;
  for (int trial = 0; trial < 300; ++trial) {
    const Lists lists = random_lists(random);
    const int servers = 1 + static_cast<int>(random.below(9));
    assign(split, lists, servers);
    for (int server = 0; server < servers; ++server) {
      size_t total = 0;
      for (size_t list = 0; list < lists.size(); ++list) {
        std::vector<uint64_t> expected;
        for (const uint64_t key : lists[list]) {
          if (server_of(key, servers) == server) expected.push_back(key);
        }
        ASSERT_EQ(split.count(server, list), expected.size());
        std::vector<uint64_t> found(expected.size() + 1, 77);
        split.copy_keys(server, list, lists[list], found.data());
        ASSERT_EQ(found.back(), 77u) << "no more is written than count() says";
        found.pop_back();
        ASSERT_EQ(found, expected);
        total += expected.size();
      }
      ASSERT_EQ(split.count(server), total);
    }
  }
}

// Rows go to their servers beside their keys, and back to where they came from.
TEST(RowSplit, GatheredRowsAreScatteredToTheirPlaces) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  RowSplit split;
  for (int trial = 0; trial < 200; ++trial) {
    const Lists lists = random_lists(random);
    const int servers = 1 + static_cast<int>(random.below(5));
    const size_t width = 1 + random.below(9);
    assign(split, lists, servers);
    for (size_t list = 0; list < lists.size(); ++list) {
      std::vector<float> rows(lists[list].size() * width);
      for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i);
      std::vector<float> back(rows.size(), -1);
      for (int server = 0; server < servers; ++server) {
        const size_t count = split.count(server, list);
        std::vector<uint64_t> keys(count);
        std::vector<float> here(count * width);
        split.copy_keys(server, list, lists[list], keys.data());
        split.gather(server, list, rows.data(), width, here.data());
        for (size_t i = 0; i < count; ++i)
          ASSERT_EQ(lists[list][static_cast<size_t>(here[i * width]) / width], keys[i]) << "a row beside its key";
        split.scatter(server, list, here.data(), width, back.data());
      }
      ASSERT_EQ(back, rows);
    }
  }
}

// A key that is in a list twice is there twice, in both places.
TEST(RowSplit, EqualKeysKeepTheirPlaces) {
  const Lists lists = {{5, 9, 5, 9, 5}};
  for (const int servers : {1, 2, 3}) {
    RowSplit split;
    assign(split, lists, servers);
    const std::vector<float> rows = {0, 1, 2, 3, 4};
    std::vector<float> back(5, -1);
    size_t total = 0;
    for (int server = 0; server < servers; ++server) {
      std::vector<float> here(split.count(server, 0));
      split.gather(server, 0, rows.data(), 1, here.data());
      split.scatter(server, 0, here.data(), 1, back.data());
      total += here.size();
    }
    EXPECT_EQ(total, 5u);
    EXPECT_EQ(back, rows);
  }
}

TEST(RowSplit, ListsWithoutKeysAreOnNoServer) {
  RowSplit split;
  assign(split, {{}, {}}, 3);
  for (int server = 0; server < 3; ++server) EXPECT_EQ(split.count(server), 0u);
  split.gather(0, 0, nullptr, 4, nullptr);
  split.scatter(0, 1, nullptr, 4, nullptr);
  assign(split, {{}}, 1);
  EXPECT_EQ(split.count(0), 0u);
  split.copy_keys(0, 0, {}, nullptr);
}

// Near keys, as counters give them out, and those with the same low bits lie on all servers alike.
TEST(ServerOf, SharesKeysAlike) {
  for (const uint64_t stride : {uint64_t{1}, uint64_t{8}, uint64_t{1} << 20, uint64_t{1} << 40}) {
    for (const int servers : {2, 3, 8}) {
      std::map<int, int> counts;
      for (uint64_t i = 0; i < 20'000; ++i) ++counts[server_of(i * stride, servers)];
      for (int server = 0; server < servers; ++server)
        EXPECT_NEAR(counts[server], 20'000 / servers, 20'000 / servers / 10) << stride << " " << servers;
    }
  }
}

}  // namespace
}  // namespace argosy::ps
