#include "argosy/data/queue_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "argosy/base/mutex.h"
#include "argosy/data/scratch_files_test.h"
#include "argosy/data/text_block.h"

namespace argosy::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<SlotSpec> id_and_label() {
  return {{.name = "id", .type = SlotType::int64, .dense = false, .width = 1},
          {.name = "label", .type = SlotType::float32, .dense = true, .width = 1}};
}

// Lines with ids first … first + count - 1.
std::string lines(int64_t first, int64_t count) {
  std::string text;
  for (int64_t id = first; id < first + count; ++id) text += fmt::format("1 {} 1 0.5\n", id);
  return text;
}

Result<std::vector<int64_t>> read_ids(BatchSource& source, int thread = 0, std::vector<int64_t>* sizes = nullptr) {
  std::vector<int64_t> ids;
  Batch batch;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, source.next(thread, batch));
    if (!more) return ids;
    if (sizes != nullptr) sizes->push_back(batch.size);
    ids.insert(ids.end(), batch.columns[0].ints(), batch.columns[0].ints() + batch.columns[0].count());
  }
}

std::vector<int64_t> counting(int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

class QueueDatasetTest : public testing::Test {
 protected:
  DatasetOptions options(std::vector<std::string> files, int batch_size = 10) {
    return {.slots = id_and_label(), .batch_size = batch_size, .files = std::move(files)};
  }
  Status run(DatasetOptions options) {
    QueueDataset dataset(std::move(options));
    RETURN_IF_ERROR(dataset.start(1));
    return read_ids(dataset).status();
  }
  ScratchFiles files_;
};

TEST_F(QueueDatasetTest, OneThreadSeesTheSamplesInTheOrderOfTheFiles) {
  QueueDataset dataset(
      options({files_.write("a", lines(0, 25)), files_.write("b", ""), files_.write("c", lines(25, 25000))}, 100));
  for (int pass = 0; pass < 2; ++pass) {
    ASSERT_TRUE(dataset.start(1).ok());
    std::vector<int64_t> sizes;
    EXPECT_EQ(*read_ids(dataset, 0, &sizes), counting(25025));
    EXPECT_EQ(sizes.size(), 251u);  // batches go on across files
    EXPECT_EQ(sizes.back(), 25);
    EXPECT_EQ(dataset.counters().lines, 25025);
    EXPECT_EQ(dataset.counters().bad_lines, 0);
    EXPECT_GT(dataset.counters().bytes, 25025 * 9);
  }
}

TEST_F(QueueDatasetTest, ALastLineWithoutANewlineIsALine) {
  QueueDataset dataset(options({files_.write("a", "1 7 1 0\n1 8 1 0"), files_.write("b", "1 9 1 0")}));
  ASSERT_TRUE(dataset.start(1).ok());
  EXPECT_THAT(*read_ids(dataset), ElementsAre(7, 8, 9));
}

TEST_F(QueueDatasetTest, DropLastLeavesOutASmallBatch) {
  DatasetOptions with = options({files_.write("a", lines(0, 25))});
  with.drop_last = true;
  QueueDataset dataset(with);
  ASSERT_TRUE(dataset.start(1).ok());
  EXPECT_EQ(*read_ids(dataset), counting(20));
}

// Two threads on one file: both must get batches, and together every sample once.
TEST_F(QueueDatasetTest, TwoThreadsShareOneFile) {
  QueueDataset dataset(options({files_.write("a", lines(0, 200'000))}, 1000));
  ASSERT_TRUE(dataset.start(2).ok());
  // Each takes one batch before either goes on, so that neither can drain the file alone.
  Batch first, second;
  ASSERT_TRUE(*dataset.next(0, first));
  ASSERT_TRUE(*dataset.next(1, second));
  std::vector<int64_t> ids[2] = {ints_of(first.columns[0]), ints_of(second.columns[0])};
  const auto drain = [&](int thread) {
    const auto rest = read_ids(dataset, thread);
    ids[thread].insert(ids[thread].end(), rest->begin(), rest->end());
  };
  std::thread other(drain, 1);
  drain(0);
  other.join();
  std::vector<int64_t> all = ids[0];
  all.insert(all.end(), ids[1].begin(), ids[1].end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, counting(200'000));
}

TEST_F(QueueDatasetTest, ManyFilesAndThreadsLoseNothing) {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i)
    names.push_back(files_.write(fmt::format("part-{}{}", i, i % 2 ? ".gz" : ""),
                                 i % 2 ? gzip(lines(i * 1000, 1000)) : lines(i * 1000, 1000)));
  DatasetOptions with = options(names, 64);
  with.pipe_command = "tr a-z a-z";
  QueueDataset dataset(with);
  ASSERT_TRUE(dataset.start(3).ok());
  std::vector<int64_t> ids[3];
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&, i] { ids[i] = *read_ids(dataset, i); });
  for (std::thread& thread : threads) thread.join();
  std::vector<int64_t> all;
  for (const auto& part : ids) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, counting(20'000));
}

// What threads take, by the numbers of the batches.
std::vector<std::vector<int64_t>> batches_of(BatchSource& source, int threads) {
  Mutex mutex;
  std::vector<std::vector<int64_t>> batches;
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      Batch batch;
      for (;;) {
        const auto more = source.next(thread, batch);
        if (!more.ok() || !*more) return;
        if (thread == 0) std::this_thread::yield();
        MutexLock lock(mutex);
        if (batches.size() <= batch.number) batches.resize(batch.number + 1);
        batches[batch.number] = ints_of(batch.columns[0]);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  return batches;
}

// A worker that is started again knows by a batch's number whether its samples have counted, with any number of threads.
TEST_F(QueueDatasetTest, ABatchIsWhatItsNumberSaysWhicheverThreadTakesIt) {
  std::vector<std::string> names;
  for (int i = 0; i < 7; ++i) names.push_back(files_.write(fmt::format("part-{}", i), lines(i * 100'000, 1000 + 777 * i)));
  DatasetOptions with = options(names, 64);
  with.pipe_command = "tr a-z a-z";
  QueueDataset dataset(with);
  std::vector<std::vector<int64_t>> expected;
  for (int pass = 0; pass < 4; ++pass) {
    ASSERT_TRUE(dataset.start(3).ok());
    const auto batches = batches_of(dataset, 3);
    if (pass == 0) expected = batches;
    ASSERT_EQ(batches, expected) << "pass " << pass;
  }
  for (size_t i = 0; i + 1 < expected.size(); ++i) EXPECT_EQ(expected[i].size(), 64u) << "only the last one is smaller";
}

// What a server knows of a list that it deals.
struct Deck {
  Mutex mutex;
  std::map<int, size_t> next;  // by pass
  std::set<int> readers;
};

class DeckHandout : public FileHandout {
 public:
  explicit DeckHandout(Deck& deck) : deck_(deck) {}
  void begin_pass() override { ++pass_; }
  Result<std::optional<File>> next(size_t files, int reader, int64_t) override {
    MutexLock lock(deck_.mutex);
    deck_.readers.insert(reader);
    size_t& next = deck_.next[pass_];
    return next < files ? std::optional(File{.place = next++}) : std::nullopt;
  }

 private:
  Deck& deck_;
  int pass_ = 0;
};

TEST_F(QueueDatasetTest, DatasetsThatShareAListReadEachFileOnce) {
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back(files_.write(fmt::format("part-{}", i), lines(i * 500, 500)));
  DatasetOptions with = options(names, 50);
  Deck deck;
  with.handout = std::make_shared<DeckHandout>(deck);
  QueueDataset one(with);
  with.handout = std::make_shared<DeckHandout>(deck);
  QueueDataset other(with);
  for (int pass = 0; pass < 2; ++pass) {
    ASSERT_TRUE(one.start(2).ok());
    ASSERT_TRUE(other.start(1).ok());
    std::vector<int64_t> all;
    std::vector<std::vector<int64_t>> others;
    std::thread late([&] { others = batches_of(other, 1); });
    for (const auto& batch : batches_of(one, 2)) all.insert(all.end(), batch.begin(), batch.end());
    late.join();
    for (const auto& batch : others) all.insert(all.end(), batch.begin(), batch.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, counting(6000));
  }
  EXPECT_THAT(deck.readers, ElementsAre(0, 1));
}

// Every process makes the same passes of a hand-out: one that is begun again after an error is no new one, and one that is
// skipped is none less.
TEST_F(QueueDatasetTest, APassThatIsBegunAgainIsTheSameOfTheHandout) {
  class Passes : public FileHandout {
   public:
    void begin_pass() override { begun += 'b'; }
    void repeat_pass() override { begun += 'r'; }
    Result<std::optional<File>> next(size_t, int, int64_t) override { return std::optional<File>(); }
    std::string begun;
  };
  DatasetOptions with = options({files_.write("a", lines(0, 100))});
  const auto handout = std::make_shared<Passes>();
  with.handout = handout;
  QueueDataset dataset(with);
  ASSERT_TRUE(dataset.start(1).ok());
  dataset.repeat();
  ASSERT_TRUE(dataset.start(1).ok());
  EXPECT_EQ(handout->begun, "br");
  dataset.skip();
  ASSERT_TRUE(dataset.start(1).ok());
  EXPECT_EQ(handout->begun, "brbb");
}

// Files of lost processes come with lines that are trained already, and some come when everything else has been read.
TEST_F(QueueDatasetTest, LeavesOutLinesThatALostReaderHadTrained) {
  class Again : public FileHandout {
   public:
    void begin_pass() override {}
    Result<std::optional<File>> next(size_t, int, int64_t lines) override {
      lines_before.push_back(lines);
      switch (lines_before.size()) {
        case 1: return std::optional(File{.place = 0, .skip = {{1, 3}, {6, 1}, {9000, 3000}}, .in_parts = 1});
        case 3: return std::optional(File{.place = 1, .skip = {{1, 10}}, .lines = 10});
        case 4: return std::optional(File{.place = 2, .skip = {{2, 8}}});
        default: return std::optional<File>();
      }
    }
    std::vector<int64_t> lines_before;
  };
  DatasetOptions with = options({files_.write("a", lines(0, 11999)), "/nobody/opens/it", files_.write("c", lines(20000, 10))}, 7);
  with.files[1] = with.files[0];
  const auto handout = std::make_shared<Again>();
  with.handout = handout;
  QueueDataset dataset(with);
  ASSERT_TRUE(dataset.start(1).ok());
  std::vector<int64_t> expected;
  for (int64_t id = 0; id < 11999; ++id) {
    if (id >= 3 && id != 5 && (id < 8999 || id >= 11999)) expected.push_back(id);
  }
  expected.insert(expected.end(), {20000, 20009});
  std::vector<int64_t> ids;
  std::set<std::pair<uint64_t, uint64_t>> seen;
  Batch batch;
  while (*dataset.next(0, batch)) {
    const auto of_batch = ints_of(batch.columns[0]);
    ids.insert(ids.end(), of_batch.begin(), of_batch.end());
    for (const auto& [file, lines] : batch.lines) {
      for (uint64_t line = lines.first; line < lines.first + lines.count; ++line) EXPECT_TRUE(seen.emplace(file, line).second);
    }
  }
  EXPECT_EQ(ids, expected);
  EXPECT_EQ(seen.size(), ids.size());
  EXPECT_TRUE(seen.contains({0, 4}) && seen.contains({2, 10}) && !seen.contains({0, 6}) && !seen.contains({2, 2}));
  EXPECT_THAT(handout->lines_before, ElementsAre(0, 11999, 11999, 10, 10, 10));
  EXPECT_EQ(dataset.counters().lines_of_lost, 3 + 1 + 3000 + 10 + 8);
  EXPECT_EQ(dataset.counters().lines_in_parts, 1);
}

TEST_F(QueueDatasetTest, AHandoutThatFailsEndsThePassWithItsReason) {
  class Broken : public FileHandout {
    void begin_pass() override {}
    Result<std::optional<File>> next(size_t, int, int64_t) override { return Status::unavailable("server 0 is away"); }
  };
  DatasetOptions with = options({files_.write("a", lines(0, 100))});
  with.handout = std::make_shared<Broken>();
  EXPECT_THAT(run(with).message(), HasSubstr("server 0 is away"));
}

TEST_F(QueueDatasetTest, AMalformedLineStopsTheRunAndSaysWhere) {
  const std::string path = files_.write("a", lines(0, 5000) + "1 12 1 zero\n" + lines(0, 5));
  EXPECT_THAT(run(options({path})).message(),
              AllOf(HasSubstr(path + ":5001:8: "), HasSubstr("slot 'label'"), HasSubstr("'zero'")));
  DatasetOptions piped = options({path});
  piped.pipe_command = "echo advice >&2; sleep 0.2; tr a-z a-z";
  EXPECT_THAT(run(piped).message(),
              AllOf(HasSubstr(":5001:8: "), HasSubstr("pipe command 'echo advice"), HasSubstr("ends with:\nadvice")));
}

TEST_F(QueueDatasetTest, AFailureReachesEveryThreadAndStays) {
  QueueDataset dataset(options({files_.write("a", lines(0, 10) + "bad\n")}));
  ASSERT_TRUE(dataset.start(2).ok());
  const Status failure = read_ids(dataset, 0).status();
  EXPECT_EQ(failure.code(), Code::invalid_argument);
  EXPECT_EQ(read_ids(dataset, 1).status(), failure);
  EXPECT_EQ(read_ids(dataset, 0).status(), failure);
}

TEST_F(QueueDatasetTest, ACommandThatFailsStopsTheRun) {
  DatasetOptions with = options({files_.write("a", lines(0, 100))});
  with.pipe_command = "head -n 15; echo broken reader >&2; false";
  EXPECT_THAT(run(with).message(),
              AllOf(HasSubstr("exited with status 1"), HasSubstr("broken reader"), HasSubstr(with.files[0])));
}

TEST_F(QueueDatasetTest, SomeBadLinesAreSkippedAndCounted) {
  DatasetOptions with = options({files_.write("a", "1 0 1 0\nx\n1 1 1 0\n1 5 2 0 0\n\n1 2 1 0\n")});
  with.max_bad_lines = 3;
  QueueDataset dataset(with);
  ASSERT_TRUE(dataset.start(1).ok());
  EXPECT_THAT(*read_ids(dataset), ElementsAre(0, 1, 2));
  EXPECT_EQ(dataset.counters().bad_lines, 3);
  EXPECT_EQ(dataset.counters().lines, 6);
  with.max_bad_lines = 2;
  EXPECT_THAT(run(with).message(), AllOf(HasSubstr("more than 2 bad lines"), HasSubstr(":5:1: ")));
}

TEST_F(QueueDatasetTest, MissingFilesAreNamedBeforeAnythingStarts) {
  const std::string absent = files_.path("absent");
  const Status status = QueueDataset(options({files_.write("a", ""), absent})).start(1);
  EXPECT_EQ(status.code(), Code::not_found);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("1 of 2"), HasSubstr(absent)));
  EXPECT_THAT(QueueDataset(options({})).start(1).message(), HasSubstr("no files"));
  EXPECT_THAT(QueueDataset(options({files_.path("a")}, 0)).start(1).message(), HasSubstr("batch_size is 0"));
}

TEST_F(QueueDatasetTest, StopEndsAThreadThatWaitsForASlowCommand) {
  DatasetOptions with = options({files_.write("a", lines(0, 100))}, 10);
  with.pipe_command = "sleep 1000";
  QueueDataset dataset(with);
  ASSERT_TRUE(dataset.start(1).ok());
  std::thread stopper([&] { dataset.stop(); });
  EXPECT_EQ(read_ids(dataset).status().code(), Code::cancelled);
  stopper.join();
  dataset.stop();
}

TEST_F(QueueDatasetTest, StoppingEarlyAndStartingAgainReadsEverything) {
  QueueDataset dataset(options({files_.write("a", lines(0, 300'000)), files_.write("b", lines(300'000, 10))}, 100));
  ASSERT_TRUE(dataset.start(1).ok());
  Batch batch;
  ASSERT_TRUE(*dataset.next(0, batch));
  dataset.stop();
  EXPECT_EQ(dataset.next(0, batch).status().code(), Code::cancelled);
  ASSERT_TRUE(dataset.start(1).ok());
  EXPECT_EQ(read_ids(dataset)->size(), 300'010u);
}

TEST_F(QueueDatasetTest, ALineWithoutEndIsRefused) {
  const std::string path = files_.write("a", "1 2 1 3\n" + std::string(BlockReader::kLongestLine + (2 << 20), '1'));
  EXPECT_THAT(run(options({path})).message(), AllOf(HasSubstr(path + ":2"), HasSubstr("64 MiB")));
}

}  // namespace
}  // namespace argosy::data
