#include "argosy/data/in_memory_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "argosy/base/random.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::HasSubstr;

const std::vector<SlotSpec> kSlots = {{.name = "dense", .type = SlotType::float32, .dense = true, .width = 2},
                                      {.name = "ids", .type = SlotType::int64, .dense = false, .width = 1},
                                      {.name = "weights", .type = SlotType::float32, .dense = false, .width = 1}};

// A line whose every slot tells its number; slots of 1 to 300 values, so that counts of one and of two bytes occur.
std::string line(int64_t number) {
  std::string text = fmt::format("2 {} -0.5 ", number);
  const int64_t count = number % 50 == 0 ? 300 : 1 + number % 3;
  text += fmt::format("{}", count);
  for (int64_t i = 0; i < count; ++i) text += fmt::format(" {}", number * 1000 + i);
  return text + fmt::format(" 1 {}.25\n", number);
}

std::string lines(int64_t first, int64_t count) {
  std::string text;
  for (int64_t i = first; i < first + count; ++i) text += line(i);
  return text;
}

// The numbers of the samples, and a check that each sample is whole.
std::vector<int64_t> numbers(const Batch& batch) {
  std::vector<int64_t> found;
  for (int64_t i = 0; i < batch.size; ++i) {
    const auto number = static_cast<int64_t>(batch.columns[0].floats()[2 * i]);
    const auto offsets = batch.columns[1].offsets();
    const int64_t begin = offsets[static_cast<size_t>(i)], end = offsets[static_cast<size_t>(i) + 1];
    EXPECT_EQ(end - begin, number % 50 == 0 ? 300 : 1 + number % 3);
    for (int64_t j = begin; j < end; ++j) EXPECT_EQ(batch.columns[1].ints()[j], number * 1000 + (j - begin));
    EXPECT_EQ(batch.columns[2].floats()[i], static_cast<float>(number) + 0.25f);
    found.push_back(number);
  }
  return found;
}

std::vector<int64_t> read_all(BatchSource& source, int thread = 0) {
  std::vector<int64_t> all;
  Batch batch;
  for (;;) {
    const auto more = source.next(thread, batch);
    EXPECT_TRUE(more.ok()) << more.status().message();
    if (!more.ok() || !*more) return all;
    const auto part = numbers(batch);
    all.insert(all.end(), part.begin(), part.end());
  }
}

std::vector<int64_t> counting(int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

std::vector<int64_t> sorted(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

class InMemoryDatasetTest : public testing::Test {
 protected:
  DatasetOptions options(int threads = 1) {
    const std::vector<std::string> names = {files_.write("a", lines(0, 3000)), files_.write("b.zst", zstd(lines(3000, 7))),
                                            files_.write("c", lines(3007, 993))};
    return {.slots = kSlots, .batch_size = 64, .threads = threads, .files = names};
  }
  std::vector<int64_t> one_pass(InMemoryDataset& dataset) {
    EXPECT_TRUE(dataset.start(1).ok());
    return read_all(dataset);
  }
  ScratchFiles files_;
};

// Loading with several threads must not make a run depend on which of them was faster.
TEST_F(InMemoryDatasetTest, KeepsTheOrderOfTheFilesWithAnyNumberOfThreads) {
  for (int threads : {1, 3}) {
    InMemoryDataset dataset(options(threads));
    ASSERT_TRUE(dataset.load_into_memory().ok());
    EXPECT_EQ(dataset.memory_data_size(), 4000);
    EXPECT_EQ(one_pass(dataset), counting(4000));
    EXPECT_EQ(one_pass(dataset), counting(4000));
  }
}

// They belong to the load: a ledger that is told of them with every pass has them as often as there are passes.
TEST_F(InMemoryDatasetTest, ALoadIsCountedWithTheFirstPassOverIt) {
  DatasetOptions with = options(1);
  with.files.push_back(files_.write("bad", "1 x\n"));
  with.max_bad_lines = 1;
  InMemoryDataset dataset(with);
  for (int load = 0; load < 2; ++load) {
    ASSERT_TRUE(dataset.load_into_memory().ok());
    EXPECT_EQ(dataset.counters().bad_lines, 1);
    ASSERT_TRUE(dataset.start(1).ok());
    dataset.stop();
    dataset.repeat();  // after an error
    EXPECT_EQ(one_pass(dataset), counting(4000));
    EXPECT_EQ(dataset.counters().bad_lines, 1);
    EXPECT_EQ(dataset.counters().lines, 4001);
    EXPECT_EQ(one_pass(dataset), counting(4000));
    EXPECT_EQ(dataset.counters().bad_lines, 0);
  }
  ASSERT_TRUE(dataset.load_into_memory().ok());
  dataset.skip();  // an earlier start of this process has told of it
  EXPECT_EQ(one_pass(dataset), counting(4000));
  EXPECT_EQ(dataset.counters().bad_lines, 0);
}

TEST_F(InMemoryDatasetTest, AShuffleIsAFunctionOfItsSeed) {
  InMemoryDataset one(options(1)), other(options(2));
  ASSERT_TRUE(one.load_into_memory().ok() && other.load_into_memory().ok());
  ASSERT_TRUE(one.local_shuffle(5).ok() && other.local_shuffle(5).ok());
  const std::vector<int64_t> shuffled = one_pass(one);
  EXPECT_NE(shuffled, counting(4000));
  EXPECT_EQ(sorted(shuffled), counting(4000));
  EXPECT_EQ(one_pass(other), shuffled);
  ASSERT_TRUE(other.local_shuffle(6).ok());
  EXPECT_NE(one_pass(other), shuffled);
}

// A slot alone is shuffled, a second call begins with what was loaded, and a load ends it.
TEST_F(InMemoryDatasetTest, SlotsAreShuffledFromWhatWasLoaded) {
  InMemoryDataset dataset({.slots = kSlots, .batch_size = 7, .files = {files_.write("a", lines(0, 40))}});
  const std::vector<std::string> ids = {"ids"}, none, unknown = {"ids", "hour"};
  EXPECT_THAT(dataset.shuffle_slots(ids, 10, 1).message(), HasSubstr("slots_shuffle before load_into_memory"));
  ASSERT_TRUE(dataset.load_into_memory().ok());
  EXPECT_THAT(dataset.shuffle_slots(unknown, 10, 1).message(), HasSubstr("has no slot 'hour'; it has dense, ids, weights"));
  EXPECT_THAT(dataset.shuffle_slots(ids, 0, 1).message(), HasSubstr("0 candidates for a sample, expected 1 or more"));
  const size_t bytes = dataset.memory_bytes();
  ASSERT_TRUE(dataset.shuffle_slots(ids, 100, 1).ok());
  EXPECT_EQ(dataset.memory_data_size(), 40);
  EXPECT_GT(dataset.memory_bytes(), bytes) << "what was loaded is counted too";
  EXPECT_THAT(dataset.begin_exchange(1).message(), HasSubstr("global_shuffle after slots_shuffle"));
  ASSERT_TRUE(dataset.start(1).ok());
  Batch batch;
  int moved = 0, seen = 0;
  for (; *dataset.next(0, batch);) {
    for (int64_t i = 0; i < batch.size; ++i, ++seen) {
      EXPECT_EQ(batch.columns[0].floats()[2 * i], static_cast<float>(seen));
      EXPECT_EQ(batch.columns[2].floats()[i], static_cast<float>(seen) + 0.25f);
      moved += batch.columns[1].ints()[batch.columns[1].offsets()[static_cast<size_t>(i)]] != seen * 1000;
    }
  }
  EXPECT_EQ(seen, 40);
  EXPECT_GT(moved, 20);
  ASSERT_TRUE(dataset.shuffle_slots(none, 100, 1).ok());
  ASSERT_TRUE(dataset.start(1).ok());
  EXPECT_EQ(read_all(dataset).size(), 40U);  // numbers() checks each sample
  ASSERT_TRUE(dataset.load_into_memory().ok());
  EXPECT_TRUE(dataset.begin_exchange(1).ok());
}

TEST_F(InMemoryDatasetTest, ThreadsShareAPassWithOneSmallBatchAtMost) {
  InMemoryDataset dataset(options());
  ASSERT_TRUE(dataset.load_into_memory().ok());
  ASSERT_TRUE(dataset.start(2).ok());
  std::vector<int64_t> parts[2];
  std::thread other([&] { parts[1] = read_all(dataset, 1); });
  parts[0] = read_all(dataset, 0);
  other.join();
  parts[0].insert(parts[0].end(), parts[1].begin(), parts[1].end());
  EXPECT_EQ(sorted(parts[0]), counting(4000));
}

TEST_F(InMemoryDatasetTest, DropLastLeavesOutASmallBatch) {
  DatasetOptions with = options();
  with.drop_last = true;
  InMemoryDataset dataset(with);
  ASSERT_TRUE(dataset.load_into_memory().ok());
  EXPECT_EQ(one_pass(dataset).size(), 4000u / 64 * 64);
}

TEST_F(InMemoryDatasetTest, PreloadsInTheBackground) {
  InMemoryDataset dataset(options(2));
  EXPECT_EQ(dataset.wait_preload_done().code(), Code::failed_precondition);
  ASSERT_TRUE(dataset.preload_into_memory().ok());
  EXPECT_THAT(dataset.local_shuffle(1).message(), HasSubstr("wait_preload_done first"));
  ASSERT_TRUE(dataset.wait_preload_done().ok());
  EXPECT_EQ(one_pass(dataset), counting(4000));
}

TEST_F(InMemoryDatasetTest, StopEndsAPreloadThatWaits) {
  DatasetOptions with = options();
  with.pipe_command = "sleep 1000";
  InMemoryDataset dataset(with);
  ASSERT_TRUE(dataset.preload_into_memory().ok());
  dataset.stop();
  EXPECT_EQ(dataset.wait_preload_done().code(), Code::cancelled);
}

TEST_F(InMemoryDatasetTest, AFailedLoadLeavesWhatWasThere) {
  InMemoryDataset dataset(options());
  ASSERT_TRUE(dataset.load_into_memory().ok());
  files_.write("c", "2 1 x\n");
  EXPECT_THAT(dataset.load_into_memory().message(), HasSubstr("c:1:5: slot 'dense'"));
  EXPECT_EQ(one_pass(dataset), counting(4000));
}

TEST_F(InMemoryDatasetTest, SaysWhatToCallFirst) {
  InMemoryDataset dataset(options());
  Batch batch;
  EXPECT_THAT(dataset.start(1).message(), HasSubstr("load_into_memory first"));
  EXPECT_THAT(dataset.local_shuffle(1).message(), HasSubstr("load_into_memory"));
  EXPECT_EQ(dataset.next(0, batch).status().code(), Code::failed_precondition);
  ASSERT_TRUE(dataset.load_into_memory().ok());
  EXPECT_GT(dataset.memory_bytes(), 4000u * 24);
  ASSERT_TRUE(dataset.release_memory().ok());
  EXPECT_EQ(dataset.memory_data_size(), 0);
  EXPECT_EQ(dataset.memory_bytes(), 0u);
  EXPECT_THAT(dataset.start(1).message(), HasSubstr("load_into_memory first"));
}

TEST_F(InMemoryDatasetTest, StopEndsAPass) {
  InMemoryDataset dataset(options());
  ASSERT_TRUE(dataset.load_into_memory().ok());
  ASSERT_TRUE(dataset.start(1).ok());
  dataset.stop();
  Batch batch;
  EXPECT_EQ(dataset.next(0, batch).status().code(), Code::cancelled);
  EXPECT_EQ(one_pass(dataset), counting(4000));
}

// Two workers deal their records to each other: nothing is lost, nothing doubled, and each gets about half.
TEST_F(InMemoryDatasetTest, WorkersExchangeRecords) {
  DatasetOptions a = options(), b = options();
  a.files = {files_.write("left", lines(0, 2000))};
  b.files = {files_.write("right", lines(2000, 2000))};
  InMemoryDataset first(a), second(b);
  ASSERT_TRUE(first.load_into_memory().ok() && second.load_into_memory().ok());
  ASSERT_TRUE(first.local_shuffle(9).ok());
  ASSERT_TRUE(first.begin_exchange(1).ok() && second.begin_exchange(2).ok());
  EXPECT_EQ(first.end_exchange().code(), Code::failed_precondition);
  EXPECT_EQ(first.exchange_ratio(), 0);
  for (InMemoryDataset* from : {&first, &second}) {
    for (std::vector<std::string> blocks(2); from->take_records(blocks); blocks.assign(2, {})) {
      for (size_t to = 0; to < 2; ++to) {
        InMemoryDataset& receiver = to == 0 ? first : second;
        if (blocks[to].empty()) continue;
        EXPECT_TRUE(receiver.give_records(blocks[to]).ok());
      }
    }
    EXPECT_EQ(from->exchange_ratio(), 1);
  }
  ASSERT_TRUE(first.end_exchange().ok() && second.end_exchange().ok());
  EXPECT_NEAR(static_cast<double>(first.memory_data_size()), 2000, 200);
  std::vector<int64_t> all = one_pass(first), rest = one_pass(second);
  all.insert(all.end(), rest.begin(), rest.end());
  EXPECT_EQ(sorted(all), counting(4000));
}

// Bytes of a peer are checked before any of them is used.
TEST_F(InMemoryDatasetTest, ADamagedBlockOfRecordsAddsNothing) {
  InMemoryDataset dataset(options());
  ASSERT_TRUE(dataset.load_into_memory().ok());
  ASSERT_TRUE(dataset.begin_exchange(1).ok());
  std::vector<std::string> blocks(1);
  while (dataset.take_records(blocks)) {
  }
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Random random(seed);
  EXPECT_EQ(dataset.give_records("").code(), Code::data_loss);
  for (int i = 0; i < 200; ++i) {
    EXPECT_FALSE(dataset.give_records(std::string_view(blocks[0]).substr(0, 17 + random.below(100))).ok());
    std::string bent = blocks[0];
    bent[random.below(32)] ^= static_cast<char>(1 + random.below(255));  // the header, a length or the first values
    (void)dataset.give_records(bent);
  }
  RecordStore other(std::span<const SlotSpec>(kSlots).first(2));
  EXPECT_THAT(other.give(blocks[0]).message(), HasSubstr("other slots"));
  EXPECT_EQ(other.size(), 0);
}

}  // namespace
}  // namespace argosy::data
