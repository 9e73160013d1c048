// Parquet files through datasets: what is read, in which order, where reading goes on, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <thread>

#include "argosy/data/convert.h"
#include "argosy/data/file_parts.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::HasSubstr;

const std::vector<SlotSpec> kSlots = {{.name = "x", .type = SlotType::float32, .dense = true, .width = 2},
                                      {.name = "ids", .type = SlotType::int64, .dense = false, .width = 1},
                                      {.name = "label", .type = SlotType::int64, .dense = true, .width = 1}};

std::string lines(int64_t first, int64_t count) {
  std::string text;
  for (int64_t i = first; i < first + count; ++i) {
    text += fmt::format("2 {}.1 {} {}", i, static_cast<float>(i) / 3, 1 + i % 4);
    for (int64_t j = 0; j < 1 + i % 4; ++j) text += fmt::format(" {}", i * 1'000'000'007 + j);
    text += fmt::format(" 1 {}\n", i);
  }
  return text;
}

class ParquetTest : public testing::Test {
 protected:
  std::string parquet(const std::string& name, int64_t first, int64_t count, int64_t rows_per_group) {
    ConvertOptions options{.slots = kSlots};
    options.write.rows_per_group = rows_per_group;
    const auto converted = text_to_parquet(files_.write(name + ".txt", lines(first, count)), files_.path(name), options);
    EXPECT_TRUE(converted.ok()) << converted.status().message();
    return files_.path(name);
  }
  static std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  ScratchFiles files_;
};

struct Taken {
  std::vector<float> x;
  std::vector<int64_t> ids, labels, sizes;
  std::vector<FileLineRange> lines;
  friend bool operator==(const Taken&, const Taken&) = default;
};

Result<Taken> take(BatchSource& source, int64_t most = -1) {
  Taken all;
  Batch batch;
  while (most-- != 0) {
    ASSIGN_OR_RETURN(const bool more, source.next(0, batch));
    if (!more) break;
    std::ranges::copy(floats_of(batch.columns[0]), std::back_inserter(all.x));
    std::ranges::copy(ints_of(batch.columns[1]), std::back_inserter(all.ids));
    std::ranges::copy(ints_of(batch.columns[2]), std::back_inserter(all.labels));
    all.sizes.push_back(batch.size);
    std::ranges::copy(batch.lines, std::back_inserter(all.lines));
  }
  return all;
}

Result<Taken> read(DatasetOptions options) {
  QueueDataset dataset(std::move(options));
  RETURN_IF_ERROR(dataset.start(1));
  return take(dataset);
}

TEST_F(ParquetTest, GivesTheSameBatchesAsTheTextThatItWasMadeOf) {
  const std::string path = parquet("a.parquet", 0, 2500, 400);
  const auto text = read({.slots = kSlots, .batch_size = 64, .files = {path + ".txt"}});
  const auto table = read({.slots = kSlots, .batch_size = 64, .files = {path}});
  ASSERT_TRUE(text.ok() && table.ok()) << table.status().message();
  EXPECT_EQ(text->labels.size(), 2500u);
  EXPECT_EQ(*text, *table);
}

TEST_F(ParquetTest, TextAndTablesMayBeMixedInOneList) {
  const std::string a = parquet("a.parquet", 0, 30, 10), b = parquet("b.parquet", 30, 30, 10);
  const auto mixed = read({.slots = kSlots, .batch_size = 7, .files = {a, b + ".txt"}});
  ASSERT_TRUE(mixed.ok()) << mixed.status().message();
  EXPECT_EQ(*mixed, *read({.slots = kSlots, .batch_size = 7, .files = {a + ".txt", b + ".txt"}}));
}

TEST_F(ParquetTest, RowGroupsAreDealtToReadersInAnOrderThatTheDataDecides) {
  const std::string path = parquet("a.parquet", 0, 5000, 300);
  const auto batches = [&] {
    std::vector<std::vector<int64_t>> all(1000);
    Mutex mutex;
    QueueDataset dataset({.slots = kSlots, .batch_size = 50, .files = {path}});
    EXPECT_TRUE(dataset.start(3).ok());
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        Batch batch;
        for (;;) {
          const auto more = dataset.next(t, batch);
          if (!more.ok() || !*more) return;
          MutexLock lock(mutex);
          all.at(batch.number) = ints_of(batch.columns[2]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return all;
  };
  const auto first = batches();
  EXPECT_EQ(first, batches()) << "a batch's number says what is in it, however fast the threads are";
  std::vector<int64_t> labels;
  for (const auto& batch : first) labels.insert(labels.end(), batch.begin(), batch.end());
  std::ranges::sort(labels);
  ASSERT_EQ(labels.size(), 5000u);
  for (int64_t i = 0; i < 5000; ++i) EXPECT_EQ(labels[static_cast<size_t>(i)], i);
}

// Deals the parts in order, and says what was trained of them by a worker that is lost.
class Handout : public FileHandout {
 public:
  explicit Handout(std::vector<FileLineRange> trained) : trained_(std::move(trained)) {}
  void begin_pass() override { next_ = 0; }
  Result<std::optional<File>> next(size_t files, int, int64_t) override {
    if (next_ == files) return std::optional<File>();
    File file{.place = next_++, .skip = {}, .in_parts = 0, .lines = {}};
    for (const FileLineRange& range : trained_) {
      if (range.file == file.place) file.skip.push_back(range.lines);
    }
    return std::optional(file);
  }

 private:
  std::vector<FileLineRange> trained_;
  size_t next_ = 0;
};

TEST_F(ParquetTest, GoesOnBehindTheRowsOfTheRowGroupsThatWereTrained) {
  const std::string path = parquet("a.parquet", 0, 1000, 130);
  DatasetOptions options{.slots = kSlots, .batch_size = 17, .files = {path}};
  for (int64_t batches : {1, 8, 20, 45}) {
    options.handout = std::make_shared<Handout>(std::vector<FileLineRange>{});
    QueueDataset before(options);
    ASSERT_TRUE(before.start(1).ok());
    const auto trained = take(before, batches);
    ASSERT_TRUE(trained.ok());
    options.handout = std::make_shared<Handout>(trained->lines);
    const auto rest = read(options);
    ASSERT_TRUE(rest.ok()) << rest.status().message();
    std::vector<int64_t> labels = trained->labels;
    labels.insert(labels.end(), rest->labels.begin(), rest->labels.end());
    ASSERT_EQ(labels.size(), 1000u);
    for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(labels[static_cast<size_t>(i)], i);
  }
}

TEST_F(ParquetTest, ConvertsToTheTextThatItWasMadeOf) {
  const std::string path = parquet("a.parquet", 0, 3000, 700);
  const auto count = table_to_text(path, files_.path("back.txt"), {.slots = kSlots});
  ASSERT_TRUE(count.ok()) << count.status().message();
  EXPECT_EQ(count->samples, 3000);
  const auto back = read({.slots = kSlots, .batch_size = 64, .files = {files_.path("back.txt")}});
  EXPECT_EQ(*back, *read({.slots = kSlots, .batch_size = 64, .files = {path + ".txt"}}));
  ConvertOptions all;  // the slots are the table's columns
  ASSERT_TRUE(table_to_text(path, files_.path("all.txt"), all).ok());
  EXPECT_EQ(read_file(files_.path("all.txt")), read_file(files_.path("back.txt")));
}

// A device, or the input itself, would be replaced by the new file.
TEST_F(ParquetTest, ConvertsToPlainFilesBesideTheInputOnly) {
  const std::string path = parquet("a.parquet", 0, 10, 5);
  EXPECT_THAT(table_to_text(path, path, {.slots = kSlots}).status().message(), HasSubstr("is the input"));
  EXPECT_THAT(table_to_text(path, "/dev/null", {.slots = kSlots}).status().message(), HasSubstr("is not a plain file"));
  EXPECT_THAT(text_to_parquet(path + ".txt", files_.path("."), {.slots = kSlots}).status().message(),
              HasSubstr("is not a plain file"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(ParquetTest, ABadLineLeavesNoFileBehind) {
  ConvertOptions options{.slots = kSlots};
  const auto bad = text_to_parquet(files_.write("bad.txt", lines(0, 3) + "2 1 x 1 1 1 1\n"), files_.path("bad.parquet"), options);
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.status().message(), HasSubstr("bad.txt:4:"));
  EXPECT_FALSE(std::filesystem::exists(files_.path("bad.parquet")));
  EXPECT_FALSE(text_to_parquet(files_.path("bad.txt"), files_.path("no/such/folder.parquet"), options).ok());
}

TEST_F(ParquetTest, WhatIsNoParquetFileIsRefusedByName) {
  const auto message = [&](const std::string& bytes) {
    const auto all = read({.slots = kSlots, .files = {files_.write("odd.parquet", bytes)}});
    return all.ok() ? "" : all.status().message();
  };
  EXPECT_THAT(message(""), HasSubstr("odd.parquet: the file is damaged, or is not what its name says"));
  EXPECT_THAT(message("2 1 1 1 1 1 1\n"), HasSubstr("odd.parquet"));
  const std::string good = read_file(parquet("good.parquet", 0, 200, 50));
  EXPECT_THAT(message(good.substr(0, good.size() / 2)), HasSubstr("odd.parquet"));
  EXPECT_THAT(message(good.substr(0, good.size() - 1)), HasSubstr("odd.parquet"));
}

// A page that cannot be unpacked stays so, however often it is read: no trouble of the disk, which may pass.
TEST_F(ParquetTest, ADamagedPageIsALoss) {
  std::string bytes = read_file(parquet("good.parquet", 0, 4000, 4000));
  ASSERT_GT(bytes.size(), 4000u);
  std::fill_n(bytes.begin() + 60, 200, '\x5a');
  const auto all = read({.slots = kSlots, .files = {files_.write("page.parquet", bytes)}});
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.status().code(), Code::data_loss) << all.status().message();
  EXPECT_THAT(all.status().message(), HasSubstr("page.parquet: the file is damaged, or is not what its name says"));
}

// Whatever is turned over in a file, reading it ends: with an error that names the file, or with rows.
TEST_F(ParquetTest, DamagedFilesAreErrorsAndNoCrash) {
  const std::string good = read_file(parquet("good.parquet", 0, 400, 100));
  std::mt19937_64 random(20);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string bytes = good;
    const size_t tail = std::min<size_t>(bytes.size(), 3000);  // the footer, where counts and places are
    const size_t at = i % 2 == 0 ? random() % bytes.size() : bytes.size() - tail + random() % tail;
    for (size_t j = at; j < std::min(bytes.size(), at + 1 + random() % 4); ++j) bytes[j] = static_cast<char>(random());
    const auto all = read({.slots = kSlots, .batch_size = 32, .files = {files_.write("damaged.parquet", bytes)}});
    refused += !all.ok();
    if (all.ok()) continue;
    EXPECT_THAT(all.status().message(), HasSubstr("damaged.parquet"));
    EXPECT_NE(all.status().code(), Code::unavailable) << all.status().message();
  }
  EXPECT_GT(refused, 50);
}

TEST_F(ParquetTest, APartOfAHandOutThatIsNotThereIsRefused) {
  const std::string path = parquet("a.parquet", 0, 20, 10);
  class Wrong : public FileHandout {
    void begin_pass() override {}
    Result<std::optional<File>> next(size_t files, int, int64_t) override {
      return std::optional(File{.place = files, .skip = {}, .in_parts = 0, .lines = {}});
    }
  };
  DatasetOptions options{.slots = kSlots, .files = {path}};
  options.handout = std::make_shared<Wrong>();
  EXPECT_THAT(read(options).status().message(), HasSubstr("the workers' lists differ, or a file was changed"));
}

}  // namespace
}  // namespace argosy::data
