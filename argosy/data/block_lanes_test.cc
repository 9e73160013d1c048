#include "argosy/data/block_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "argosy/base/mutex.h"
#include "argosy/base/random.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::ElementsAre;

// A block of lines "<first>\n<first + 1>\n…".
std::shared_ptr<const TextBlock> block_of(int first, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += fmt::format("{}\n", first + i);
  auto block = std::make_shared<TextBlock>();
  block->text.reserve(text.size(), 0);
  std::memcpy(block->text.data(), text.data(), text.size());
  block->size = text.size();
  block->line = 1;
  block->lines = lines;
  return block;
}

std::string text_of(const std::vector<TextPiece>& pieces) {
  std::string text;
  for (const TextPiece& piece : pieces) text.append(piece.begin(), piece.end - piece.at);
  return text;
}

std::vector<std::string> all_of(BlockLanes& lanes, int64_t lines) {
  std::vector<std::string> batches;
  std::vector<TextPiece> pieces;
  uint64_t number = 0;
  while (lanes.take(lines, pieces, number) == QueueState::ok) {
    EXPECT_EQ(number, batches.size());
    batches.push_back(text_of(pieces));
  }
  return batches;
}

TEST(BlockLanes, TakesABlockOfEachLaneInTurn) {
  BlockLanes lanes(2, 10, [] {});
  lanes.push(1, block_of(100, 2));
  lanes.push(1, block_of(102, 1));
  lanes.push(1, block_of(103, 1));
  lanes.push(0, block_of(0, 1));
  lanes.end(0);
  lanes.end(1);
  EXPECT_THAT(all_of(lanes, 1), ElementsAre("0\n", "100\n", "101\n", "102\n", "103\n"));
}

TEST(BlockLanes, CutsBlocksAnywhereAndKeepsTheLinesNumbers) {
  BlockLanes lanes(1, 10, [] {});
  lanes.push(0, block_of(1, 5));
  lanes.push(0, block_of(6, 3));
  lanes.end(0);
  std::vector<TextPiece> pieces;
  uint64_t number = 0;
  ASSERT_EQ(lanes.take(3, pieces, number), QueueState::ok);
  EXPECT_EQ(text_of(pieces), "1\n2\n3\n");
  ASSERT_EQ(lanes.take(3, pieces, number), QueueState::ok);
  EXPECT_EQ(text_of(pieces), "4\n5\n6\n");
  EXPECT_EQ(pieces[0].line, 4);
  EXPECT_EQ(pieces[1].line, 1);
  ASSERT_EQ(lanes.take(3, pieces, number), QueueState::ok);
  EXPECT_EQ(text_of(pieces), "7\n8\n");
  EXPECT_EQ(number, 2u);
  EXPECT_EQ(lanes.take(3, pieces, number), QueueState::closed);
}

// What the n-th batch is may not depend on who is fast: readers and consumers that dawdle at random see the same batches.
TEST(BlockLanes, TheNthBatchIsTheSameForAllSpeeds) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(seed);
  std::vector<std::string> expected;
  for (int run = 0; run < 6; ++run) {
    BlockLanes lanes(3, 2, [] {});
    std::vector<std::thread> threads;
    for (size_t lane = 0; lane < 3; ++lane) {
      threads.emplace_back([&, lane] {
        Random random(seed + static_cast<uint64_t>(run), lane);
        for (int i = 0; i < 40 + 13 * static_cast<int>(lane); ++i) {
          if (random.below(4) == 0) std::this_thread::yield();
          lanes.push(lane, block_of(static_cast<int>(lane) * 10'000 + i * 20, 1 + i % 7));
        }
        lanes.end(lane);
      });
    }
    Mutex mutex;
    std::vector<std::string> batches;
    for (int consumer = 0; consumer < 3; ++consumer) {
      threads.emplace_back([&] {
        std::vector<TextPiece> pieces;
        uint64_t number = 0;
        while (lanes.take(5, pieces, number) == QueueState::ok) {
          MutexLock lock(mutex);
          if (batches.size() <= number) batches.resize(number + 1);
          batches[number] = text_of(pieces);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (run == 0) expected = batches;
    EXPECT_EQ(batches, expected);
  }
}

TEST(BlockLanes, CloseEndsReadersAndConsumersThatWait) {
  BlockLanes lanes(2, 1, [] {});
  lanes.push(1, block_of(0, 1));
  std::thread reader([&] { EXPECT_FALSE(lanes.push(1, block_of(1, 1))); });
  std::thread other([&] {
    TextPiece piece;
    EXPECT_EQ(lanes.take_block(piece), QueueState::closed);
  });
  std::thread closer([&] { lanes.close(); });
  std::vector<TextPiece> pieces;
  uint64_t number = 0;
  EXPECT_EQ(lanes.take(1, pieces, number), QueueState::closed);
  reader.join();
  other.join();
  closer.join();
}

}  // namespace
}  // namespace argosy::data
