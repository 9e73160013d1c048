#include "argosy/table/record_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "argosy/base/clock.h"
#include "argosy/table/checksum.h"
#include "argosy/table/log_format.h"
#include "argosy/table/log_mark.h"
#include "argosy/table/log_scratch.h"

namespace argosy::table {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using Texts = std::vector<std::string>;

std::unique_ptr<RecordLog> open_log(const fs::path& folder, LogOptions options = {}) {
  auto log = RecordLog::open(folder, options);
  EXPECT_TRUE(log.ok()) << log.status().message();
  return std::move(log).value();
}

// A log of these records, each acknowledged before the next was begun.
std::string file_with(const fs::path& folder, const Texts& texts) {
  auto log = open_log(folder);
  for (const std::string& text : texts) EXPECT_TRUE(append_text(*log, text).ok());
  return bytes_of(segment_path(folder, 0));
}

TEST(Log, GivesBackWhatWasAppended) {
  const ScratchFolder scratch;
  const std::string large(3'000'001, 'L');
  {
    auto log = open_log(scratch / "log");
    const std::string head = "head", tail = "tail";
    const Bytes pieces[] = {std::as_bytes(std::span(head)), {}, std::as_bytes(std::span(large)), std::as_bytes(std::span(tail))};
    ASSERT_TRUE(log->append(pieces).ok());
    ASSERT_TRUE(log->append({}).ok());
    ASSERT_TRUE(append_text(*log, "x").ok());
    EXPECT_THAT(texts_of(*log), ElementsAre(head + large + tail, "", "x")) << "the open log";
  }
  auto log = open_log(scratch / "log");
  ASSERT_TRUE(append_text(*log, "after").ok());
  EXPECT_THAT(texts_of(*log), ElementsAre("head" + large + "tail", "", "x", "after")) << "the log opened again";
}

TEST(Log, RecordsLieAlignedAndTheVisitorCanStop) {
  const ScratchFolder scratch;
  auto log = open_log(scratch / "log");
  for (const char* text : {"a", "bc", "123456789"}) ASSERT_TRUE(append_text(*log, text).ok());
  int seen = 0;
  const Status status = log->replay(0, [&](uint64_t, Bytes record) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(record.data()) % 8, 0u);
    return ++seen == 2 ? Status::cancelled("enough") : Status();
  });
  EXPECT_EQ(status.code(), Code::cancelled);
  EXPECT_EQ(seen, 2);
}

TEST(Log, ReplaysFromAPositionAndForgetsWhatASnapshotHas) {
  const ScratchFolder scratch;
  auto log = open_log(scratch / "log");
  ASSERT_TRUE(append_text(*log, "one").ok());
  const uint64_t two = *append_text(*log, "two");
  const uint64_t snapshot = *log->rotate();
  const uint64_t three = *append_text(*log, "three");
  EXPECT_LT(two, snapshot);
  EXPECT_LT(snapshot, three);
  EXPECT_THAT(*records_of(*log, two), ElementsAre(testing::Pair(two, "two"), testing::Pair(three, "three")));

  ASSERT_TRUE(log->drop_before(snapshot).ok());
  EXPECT_EQ(log->first(), snapshot);
  EXPECT_FALSE(fs::exists(segment_path(scratch / "log", 0)));
  log.reset();
  log = open_log(scratch / "log");
  EXPECT_THAT(*records_of(*log, snapshot), ElementsAre(testing::Pair(three, "three")));
  EXPECT_TRUE(records_of(*log, log->end())->empty());
}

// A server that has lost its snapshot must not take the rest of the log for the whole.
TEST(Log, SaysThatRecordsAreMissing) {
  const ScratchFolder scratch;
  auto log = open_log(scratch / "log");
  ASSERT_TRUE(append_text(*log, "one").ok());
  ASSERT_TRUE(log->drop_before(*log->rotate()).ok());
  EXPECT_EQ(records_of(*log, 0).status().code(), Code::out_of_range);
  EXPECT_EQ(records_of(*log, log->end() + 8).status().code(), Code::out_of_range);
}

TEST(Log, AsksForASnapshotAndNeverRefuses) {
  const ScratchFolder scratch;
  auto log = open_log(scratch / "log", {.max_bytes = 1000});
  EXPECT_FALSE(log->snapshot_due());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(append_text(*log, std::string(100, 'x')).ok());
  EXPECT_TRUE(log->snapshot_due());
  ASSERT_TRUE(log->drop_before(*log->rotate()).ok());
  EXPECT_FALSE(log->snapshot_due());
}

TEST(Log, RefusesAFolderInUse) {
  const ScratchFolder scratch;
  auto log = open_log(scratch / "log");
  const auto second = RecordLog::open(scratch / "log", {});
  EXPECT_EQ(second.status().code(), Code::failed_precondition);
  EXPECT_THAT(second.status().message(), HasSubstr("in use by another process"));
}

// Wherever the process was killed, the whole records before that point are there, and the log goes on behind them.
TEST(Log, EveryCutPointKeepsTheWholeRecords) {
  const ScratchFolder scratch;
  const Texts texts = {"first", "", std::string(40, 'b'), "the last one"};
  const std::string whole = file_with(scratch / "log", texts);
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    SCOPED_TRACE(cut);
    put_bytes(segment_path(scratch / "log", 0), whole.substr(0, cut));
    Texts expected;
    for (size_t end = kSegmentHeaderSize, i = 0; i < texts.size(); ++i) {
      end += record_size(texts[i].size());
      if (end <= cut) expected.push_back(texts[i]);
    }
    {
      auto log = open_log(scratch / "log");
      ASSERT_EQ(texts_of(*log), expected);
      ASSERT_TRUE(append_text(*log, "new").ok());
    }
    expected.push_back("new");
    ASSERT_EQ(texts_of(*open_log(scratch / "log")), expected);
  }
}

TEST(Log, GarbageBehindTheLastRecordIsCutOff) {
  const ScratchFolder scratch;
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::string whole = file_with(scratch / "log", {"first", "second"});
  for (int round = 0; round < 200; ++round) {
    std::string garbage(random() % 300, '\0');
    if (round % 4 != 0) std::generate(garbage.begin(), garbage.end(), [&] { return static_cast<char>(random()); });
    // Old bytes of this very log in the wrong place are garbage too.
    if (round % 4 == 1) garbage = whole.substr(random() % whole.size()) + garbage;
    put_bytes(segment_path(scratch / "log", 0), whole + garbage);
    ASSERT_THAT(texts_of(*open_log(scratch / "log")), ElementsAre("first", "second"));
    ASSERT_EQ(bytes_of(segment_path(scratch / "log", 0)), whole);
  }
}

// A wrong bit is found, wherever it is: before the last record it is damage, in the last one the append counts as unfinished.
TEST(Log, EveryBitFlipIsFound) {
  const ScratchFolder scratch;
  const Texts texts = {"first", "", "third one"};
  const std::string whole = file_with(scratch / "log", texts);
  const size_t last = whole.size() - record_size(texts.back().size());
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    SCOPED_TRACE(testing::Message() << "byte " << bit / 8 << " bit " << bit % 8);
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    put_bytes(segment_path(scratch / "log", 0), flipped);
    auto log = RecordLog::open(scratch / "log", {});
    if (bit / 8 >= last) {
      ASSERT_TRUE(log.ok());
      ASSERT_THAT(texts_of(**log), ElementsAre("first", ""));
      continue;
    }
    const Status status = log.ok() ? records_of(**log, 0).status() : log.status();
    ASSERT_EQ(status.code(), Code::data_loss);
    ASSERT_THAT(status.message(), HasSubstr(segment_path(scratch / "log", 0).string()));
    ASSERT_THAT(status.message(), HasSubstr("at byte "));
  }
}

void add_record(std::string& file, const std::string& text, uint64_t batch) {
  const RecordHeader header{.length = text.size(), .checksum = checksum_of(std::as_bytes(std::span(text))), .batch = batch};
  const HeaderBytes bytes = encode_record_header(header, file.size());
  file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  file += text + std::string(padding_after(text.size()), '\0');
}

// After a power cut a batch that was being synced may have its last pages and lack its first: none of it was acknowledged.
TEST(Log, AHoleInTheLastBatchIsNotDamageButOneBeforeItIs) {
  const ScratchFolder scratch;
  const std::string whole = file_with(scratch / "log", {"first"});
  for (const bool header_lost : {true, false}) {
    for (const bool same_batch : {true, false}) {
      std::string file = whole;
      const size_t hole = file.size();
      add_record(file, "second record", hole);
      add_record(file, "third", same_batch ? hole : file.size());
      file[hole + (header_lost ? 4 : kRecordHeaderSize)] ^= 1;
      put_bytes(segment_path(scratch / "log", 0), file);
      auto log = RecordLog::open(scratch / "log", {});
      if (same_batch) {
        ASSERT_TRUE(log.ok()) << log.status().message();
        EXPECT_THAT(texts_of(**log), ElementsAre("first"));
      } else {
        const Status status = log.ok() ? records_of(**log, 0).status() : log.status();
        EXPECT_EQ(status.code(), Code::data_loss);
        EXPECT_THAT(status.message(), HasSubstr(fmt::format("at byte {}", hole)));
      }
    }
  }
}

// A damaged record stays damaged when the unfinished append behind it is cut off, however often the log is opened.
TEST(Log, DamageBeforeAnUnfinishedBatchIsNotCutOff) {
  const ScratchFolder scratch;
  std::string file = file_with(scratch / "log", {"first"});
  const size_t damage = file.size();
  add_record(file, "second record", damage);
  add_record(file, "third", file.size());
  file[damage + kRecordHeaderSize] ^= 1;
  file[file.size() - 8] ^= 1;
  put_bytes(segment_path(scratch / "log", 0), file);
  for (int i = 0; i < 3; ++i) {
    const auto log = RecordLog::open(scratch / "log", {});
    EXPECT_EQ((log.ok() ? records_of(**log, 0).status() : log.status()).code(), Code::data_loss);
  }
}

// With durability=wal the kernel writes pages in any order: a power cut may take an earlier one and leave a later one.
TEST(Log, AfterAPowerCutItGoesOnWithTheWholeRecordsBeforeTheHole) {
  const ScratchFolder scratch;
  std::string file = file_with(scratch / "log", {"first", "second"});
  const size_t synced = file.size();
  add_record(file, "third", file.size());
  const size_t hole = file.size();
  add_record(file, "fourth record", hole);
  add_record(file, "fifth", file.size());
  for (const bool header_lost : {true, false}) {
    std::string torn = file;
    const size_t zeros = header_lost ? kRecordHeaderSize : 8;
    torn.replace(hole + (header_lost ? 0 : kRecordHeaderSize), zeros, std::string(zeros, '\0'));
    put_bytes(segment_path(scratch / "log", 0), torn);
    ASSERT_TRUE(write_mark(scratch / "log", {.synced = synced, .seconds = 1, .boot = "another-boot"}).ok());
    const auto log = RecordLog::open(scratch / "log", {.sync_seconds = 1});
    ASSERT_TRUE(log.ok()) << log.status().message();
    EXPECT_THAT(texts_of(**log), ElementsAre("first", "second", "third"));
    ASSERT_TRUE(append_text(**log, "new").ok());
    EXPECT_THAT(texts_of(**log), ElementsAre("first", "second", "third", "new"));
  }
}

// What was on the disk is not lost by a power cut, and without one the kernel kept everything: a hole is damage then.
TEST(Log, AHoleIsDamageWhereNoPowerCutCanHaveMadeIt) {
  const ScratchFolder scratch;
  std::string file = file_with(scratch / "log", {"first"});
  const size_t hole = file.size();
  add_record(file, "second record", hole);
  const size_t synced = file.size();
  add_record(file, "third", file.size());
  add_record(file, "fourth", file.size());
  file[hole + kRecordHeaderSize] ^= 1;
  for (const std::string& boot : {boot_id(), std::string("another-boot")}) {
    put_bytes(segment_path(scratch / "log", 0), file);
    ASSERT_TRUE(write_mark(scratch / "log", {.synced = boot == boot_id() ? 0 : synced, .seconds = 1, .boot = boot}).ok());
    const auto log = RecordLog::open(scratch / "log", {.sync_seconds = 1});
    EXPECT_EQ((log.ok() ? records_of(**log, 0).status() : log.status()).code(), Code::data_loss) << boot;
  }
}

TEST(Log, BringsRecordsToTheDiskInTheBackground) {
  const ScratchFolder scratch;
  auto log = open_log(scratch / "log", {.sync_seconds = 0.01});
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(append_text(*log, std::string(1000, 'x')).ok());
    const auto deadline = Deadline::after_seconds(30);
    while (read_mark(scratch / "log")->synced < log->end() && !deadline.passed()) std::this_thread::yield();
    EXPECT_EQ(read_mark(scratch / "log")->synced, log->end());
    ASSERT_TRUE(log->rotate().ok());
  }
  EXPECT_EQ(read_mark(scratch / "log")->boot, boot_id());
  log.reset();
  EXPECT_EQ(read_mark(scratch / "log")->boot, "closed") << "nothing can be lost any more";
}

TEST(Log, AMarkThatCannotBeReadSaysThatNothingIsOnTheDisk) {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "log");
  EXPECT_FALSE(read_mark(scratch / "log"));
  ASSERT_TRUE(write_mark(scratch / "log", {.synced = 4711, .seconds = 0.5, .boot = "a"}).ok());
  EXPECT_EQ(read_mark(scratch / "log")->synced, 4711u);
  EXPECT_EQ(read_mark(scratch / "log")->seconds, 0.5);
  std::string bytes = bytes_of(scratch / "log" / "SYNCED");
  bytes[0] = '5';
  put_bytes(scratch / "log" / "SYNCED", bytes);
  EXPECT_EQ(read_mark(scratch / "log")->synced, 0u);
}

TEST(Log, AMissingOrShortFileInTheMiddleIsNamed) {
  const ScratchFolder scratch;
  uint64_t second = 0;
  {
    auto log = open_log(scratch / "log");
    ASSERT_TRUE(append_text(*log, "one").ok());
    second = *log->rotate();
    ASSERT_TRUE(append_text(*log, "two").ok());
    ASSERT_TRUE(log->rotate().ok());
    ASSERT_TRUE(append_text(*log, "three").ok());
  }
  const std::string bytes = bytes_of(segment_path(scratch / "log", second));
  put_bytes(segment_path(scratch / "log", second), bytes.substr(0, bytes.size() - 1));
  EXPECT_THAT(RecordLog::open(scratch / "log", {}).status().message(), HasSubstr(segment_path(scratch / "log", second).string()));
  fs::remove(segment_path(scratch / "log", second));
  const Status status = RecordLog::open(scratch / "log", {}).status();
  EXPECT_EQ(status.code(), Code::data_loss);
  EXPECT_THAT(status.message(), HasSubstr("a file between them is missing"));
}

TEST(Log, AFullDiskIsSaidLeavesTheLogWholeAndCanBeOvercome) {
  const ScratchFolder scratch;
  auto log = open_log(scratch / "log");
  ASSERT_TRUE(append_text(*log, "before").ok());
  const std::string whole = bytes_of(segment_path(scratch / "log", 0));
  {
    const SmallDisk disk(100'000);
    const auto refused = append_text(*log, std::string(200'000, 'x'));
    EXPECT_EQ(refused.status().code(), Code::resource_exhausted);
    EXPECT_THAT(refused.status().message(), HasSubstr(segment_path(scratch / "log", 0).string()));
    EXPECT_EQ(bytes_of(segment_path(scratch / "log", 0)), whole) << "no part of the refused record stays";
    EXPECT_TRUE(append_text(*log, "a small one fits").ok());
    EXPECT_THAT(texts_of(*log), ElementsAre("before", "a small one fits"));
  }
  ASSERT_TRUE(append_text(*log, std::string(200'000, 'y')).ok()) << "room was made, the same log goes on";
  log.reset();
  EXPECT_THAT(texts_of(*open_log(scratch / "log")), ElementsAre("before", "a small one fits", std::string(200'000, 'y')));
}

// A snapshot must be able to cut the log while others write to it without a pause.
TEST(Log, RotateGetsItsTurnAmongBusyAppenders) {
  const ScratchFolder scratch;
  auto log = open_log(scratch / "log", {.wait_seconds = 20});
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) EXPECT_TRUE(append_text(*log, "small").ok());
    });
  }
  for (int i = 0; i < 20; ++i) {
    const auto position = log->rotate();
    EXPECT_TRUE(position.ok()) << position.status().message();
    EXPECT_TRUE(log->drop_before(position.ok() ? *position : 0).ok());
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts_of(*log)) EXPECT_EQ(text, "small");
}

// Threads append while snapshots cut the log: every record is there once, whole, where its position says.
TEST(Log, ManyThreadsAppendAndRotate) {
  const ScratchFolder scratch;
  for (const bool sync : {false, true}) {
    auto log = open_log(scratch / (sync ? "sync" : "plain"), {.sync = sync});
    constexpr int kThreads = 4, kRecords = 150;
    std::array<std::map<uint64_t, std::string>, kThreads> appended;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kRecords; ++i) {
          const std::string text = fmt::format("thread {} record {}", t, i) + std::string(static_cast<size_t>(i * 7), 'p');
          appended[static_cast<size_t>(t)][*append_text(*log, text)] = text;
          if (i % 50 == 49 && t == 0) {
            EXPECT_TRUE(log->rotate().ok());
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::map<uint64_t, std::string> all;
    for (auto& part : appended) all.merge(part);
    EXPECT_EQ(all.size(), static_cast<size_t>(kThreads * kRecords));
    EXPECT_EQ(*records_of(*log, 0), all);
    log.reset();
    EXPECT_EQ(*records_of(*open_log(scratch / (sync ? "sync" : "plain")), 0), all);
  }
}

}  // namespace
}  // namespace argosy::table
