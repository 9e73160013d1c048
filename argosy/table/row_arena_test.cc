#include "argosy/table/row_arena.h"

#include <gtest/gtest.h>

#include <set>

#include "argosy/base/thread.h"
#include "argosy/table/key_batch.h"

namespace argosy::table {
namespace {

TEST(RowArena, RowsStandSideBySideAndAreZero) {
  const auto arena = std::move(RowArena::make(5)).value();
  const uint32_t first = *arena->take_chunk();
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(arena->row(1), arena->row(0) + 5);
  for (uint32_t slot = 0; slot < arena->chunk_rows(); ++slot) {
    for (int i = 0; i < 5; ++i) ASSERT_EQ(arena->row(slot)[i], 0.0f);
  }
}

// Readers keep pointers to rows while the table grows.
TEST(RowArena, NoRowMovesWhenItGrows) {
  const auto arena = std::move(RowArena::make(64)).value();
  ASSERT_TRUE(arena->take_chunk().ok());
  float* const row = arena->row(0);
  row[0] = 7;
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(arena->take_chunk().ok());  // many big pages
  EXPECT_EQ(arena->row(0), row);
  EXPECT_EQ(row[0], 7);
  arena->row(200 * arena->chunk_rows())[63] = 1;
}

TEST(RowArena, ARowMayBeLargerThanAChunk) {
  const auto arena = std::move(RowArena::make(100'000)).value();
  EXPECT_EQ(arena->chunk_rows(), 1u);
  EXPECT_EQ(*arena->take_chunk(), 0u);
  EXPECT_EQ(*arena->take_chunk(), 1u);
  arena->row(1)[99'999] = 1;
}

TEST(RowArena, ThreadsGetChunksOfTheirOwn) {
  const auto arena = std::move(RowArena::make(16)).value();
  std::vector<std::vector<uint32_t>> taken(4);
  std::vector<Thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back("take", [&arena, &mine] {
      for (int i = 0; i < 100; ++i) mine.push_back(arena->take_chunk().value());
    });
  }
  for (Thread& thread : threads) thread.join();
  std::set<uint32_t> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 400u);
  for (const uint32_t first : all) EXPECT_EQ(first % arena->chunk_rows(), 0u);
}

TEST(KeyBatch, DealsEachKeyToItsShardWithItsPosition) {
  KeyBatch batch;
  std::vector<uint64_t> keys(1000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i * 77;
  for (const unsigned bits : {0u, 1u, 6u}) {  // its memory is used again
    batch.deal(keys, 50, bits);
    size_t dealt = 0;
    for (size_t shard = 0; shard < size_t{1} << bits; ++shard) {
      uint32_t last = 0;
      for (const Probe& probe : batch.of(shard)) {
        ASSERT_EQ(probe.key, keys[probe.position - 50]);
        EXPECT_EQ(bits == 0 ? 0 : mix64(probe.key) >> (64 - bits), shard);
        EXPECT_GE(probe.position, last) << "within a shard as they came";
        last = probe.position;
        ++dealt;
      }
    }
    EXPECT_EQ(dealt, keys.size());
  }
}

TEST(KeyBatch, NoKeysAreNoProbes) {
  KeyBatch batch;
  batch.deal({}, 0, 3);
  for (size_t shard = 0; shard < 8; ++shard) EXPECT_TRUE(batch.of(shard).empty());
}

}  // namespace
}  // namespace argosy::table
