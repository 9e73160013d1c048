#include "argosy/ps/client/acknowledged.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "argosy/base/random.h"
#include "argosy/ps/client/payload.h"
#include "argosy/ps/client/row_split.h"
#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A server of boot 1 that has acknowledged batches 0 to n-1 of a round.
void acknowledge(Acknowledged& servers, int server, uint32_t round, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) ASSERT_TRUE(servers.add(server, std::array{batch_id(round, i)}, 1));
}

TEST(Acknowledged, AServerThatWasStartedAgainWithLessIsFoundOut) {
  Acknowledged servers(2);
  servers.greeted(1, Window(), 1, false);
  acknowledge(servers, 1, 0, 5);
  const Window before = servers.window(1);
  EXPECT_FALSE(servers.compare(1, before, Window(), 1).has_value()) << "the same process is not looked at";
  EXPECT_FALSE(servers.compare(1, before, before, 2).has_value()) << "another one that has it all";
  EXPECT_EQ(servers.boot(1), 2u) << "is known from now on";
  const auto loss = servers.compare(1, before, Window(0, 2, std::array{3u}), 3);
  ASSERT_TRUE(loss.has_value());
  EXPECT_EQ(loss->server, 1);
  EXPECT_EQ(loss->batches, 2u);
  EXPECT_THAT(loss->listed, ElementsAre(2, 4));
  EXPECT_FALSE(loss->allowed);
  EXPECT_EQ(Acknowledged::describe(*loss), "2 batches that it had acknowledged: 2, 4 of pass 0");
  EXPECT_EQ(servers.window(1), before) << "it still has to have them";
  EXPECT_FALSE(servers.compare(1, before, Window(), 3).has_value());
  EXPECT_TRUE(servers.compare(1, before, Window(), 3, /*again=*/true).has_value());
  EXPECT_EQ(servers.boot(0), 0u) << "each server alone";
}

// Whole passes that are gone count with the sizes that they were left with.
TEST(Acknowledged, PassesThatAreGoneAreCountedByTheirSizes) {
  Acknowledged servers(1);
  servers.greeted(0, Window(), 1, true);
  for (const auto& [round, size] : std::map<uint32_t, uint32_t>{{0, 10}, {1, 20}, {2, 30}}) servers.leave(0, round, size);
  acknowledge(servers, 0, 3, 4);
  const auto loss = servers.compare(0, servers.window(0), Window(1, 5, std::array{7u}), 2);
  ASSERT_TRUE(loss.has_value());
  EXPECT_EQ(loss->first_round, 1u);
  EXPECT_EQ(loss->round, 3u);
  EXPECT_EQ(loss->batches, (20u - 6) + 30 + 4);
  EXPECT_EQ(Acknowledged::describe(*loss), "48 batches that it had acknowledged: 0 to 3 of pass 3, and passes from 1 on");
  EXPECT_TRUE(loss->allowed);
  EXPECT_EQ(servers.window(0), Window(1, 5, std::array{7u})) << "by its durability: the next is compared with what is there now";
}

TEST(Acknowledged, AnAnswerOfAProcessThatIsGoneIsToldApart) {
  Acknowledged servers(1);
  servers.greeted(0, Window(), 7, false);
  EXPECT_TRUE(servers.add(0, std::array{batch_id(0, 0)}, 7));
  (void)servers.compare(0, servers.window(0), Window(), 8);
  EXPECT_FALSE(servers.add(0, std::array{batch_id(0, 1)}, 7)) << "process 8 was compared without it";
  EXPECT_TRUE(servers.window(0).contains(batch_id(0, 1))) << "and it counts all the same";
}

TEST(Acknowledged, WhatAServerGoesOnWithoutIsOfOneRound) {
  Acknowledged servers(1);
  servers.add_late(0, {}, 99);
  EXPECT_THAT(servers.late(0, 0).batches, IsEmpty());
  EXPECT_EQ(servers.late(0, 0).samples, 0u);
  servers.add_late(0, std::array{batch_id(1, 4)}, 10);
  servers.add_late(0, std::array{batch_id(1, 2), batch_id(1, 4)}, 5);
  EXPECT_THAT(servers.late(0, 1).batches, ElementsAre(2, 4));
  EXPECT_EQ(servers.late(0, 1).samples, 15u);
  EXPECT_THAT(servers.late(0, 0).batches, IsEmpty());
  servers.add_late(0, std::array{batch_id(2, 0)}, 1);
  EXPECT_THAT(servers.late(0, 1).batches, IsEmpty());
  servers.greeted(0, Window(), 2, false);
  EXPECT_THAT(servers.late(0, 2).batches, IsEmpty()) << "what is not in the window is trained again";
}

// ---- Rows by server.

TEST(RowSplit, GivesEachKeyToItsServerInOrderAndBack) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  RowSplit split;
  for (int round = 0; round < 150; ++round) {
    const int servers = 1 + static_cast<int>(random.below(5));
    const size_t width = 1 + random.below(4);
    std::vector<std::vector<uint64_t>> lists(random.below(4));
    for (auto& list : lists) {
      list.resize(random.below(20));
      for (uint64_t& key : list) key = random();
    }
    const std::vector<std::span<const uint64_t>> views(lists.begin(), lists.end());
    split.assign(views, servers);
    for (size_t list = 0; list < lists.size(); ++list) {
      std::vector<float> rows(lists[list].size() * width), back(rows.size(), -1);
      for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i);
      size_t all = 0;
      for (int server = 0; server < servers; ++server) {
        std::vector<uint64_t> expected;
        std::vector<float> expected_rows;
        for (size_t i = 0; i < lists[list].size(); ++i) {
          if (server_of(lists[list][i], servers) != server) continue;
          expected.push_back(lists[list][i]);
          expected_rows.insert(expected_rows.end(), rows.begin() + static_cast<ptrdiff_t>(i * width),
                               rows.begin() + static_cast<ptrdiff_t>((i + 1) * width));
        }
        ASSERT_EQ(split.count(server, list), expected.size());
        all += expected.size();
        std::vector<uint64_t> keys(expected.size());
        std::vector<float> gathered(expected_rows.size());
        split.copy_keys(server, list, lists[list], keys.data());
        split.gather(server, list, rows.data(), width, gathered.data());
        split.scatter(server, list, gathered.data(), width, back.data());
        ASSERT_EQ(keys, expected);
        ASSERT_EQ(gathered, expected_rows);
      }
      ASSERT_EQ(all, lists[list].size());
      ASSERT_EQ(back, rows) << "scatter is gather's opposite";
    }
    for (int server = 0; server < servers; ++server) {
      size_t sum = 0;
      for (size_t list = 0; list < lists.size(); ++list) sum += split.count(server, list);
      ASSERT_EQ(split.count(server), sum);
    }
  }
}

// ---- Payloads.

std::string joined(const std::vector<rpc::Slice>& slices) {
  std::string bytes;
  for (const rpc::Slice& slice : slices) bytes.append(static_cast<const char*>(slice.data), slice.size);
  return bytes;
}

TEST(PayloadWriter, PiecesFollowEachOtherCopiedOrReferredTo) {
  Pool<Bytes> pool;
  const auto far = std::make_shared<std::vector<char>>(std::vector<char>{'f', 'a', 'r'});
  const std::string first = "one", second = "two", third = "three";
  PayloadWriter writer(pool, 11);
  writer.copy(std::span<const char>(first));
  writer.copy(std::span<const char>(second));
  writer.refer(std::span<const char>(*far), far);
  writer.refer(std::span<const char>(), far);
  writer.copy(std::span<const char>(third));
  const auto slices = writer.finish();
  EXPECT_EQ(joined(slices), "onetwofarthree");
  EXPECT_EQ(slices.size(), 3u) << "pieces that lie together are one, and nothing is no piece";
  EXPECT_EQ(slices[1].data, far->data()) << "sent from where it lies";
}

// Memory is given back with the last slice over it, and not before: a payload that is still sent is not written over.
TEST(PayloadWriter, MemoryIsUsedAgainOnlyWhenNobodyHasIt) {
  Pool<Bytes> pool;
  const auto write = [&](char fill) {
    PayloadWriter writer(pool, 100);
    std::fill_n(writer.room<char>(100), 100, fill);
    return writer.finish();
  };
  const auto first = write('a');
  const auto second = write('b');
  EXPECT_NE(first[0].data, second[0].data);
  EXPECT_EQ(joined(first), std::string(100, 'a'));
  EXPECT_EQ(joined(second), std::string(100, 'b'));
}

}  // namespace
}  // namespace argosy::ps
