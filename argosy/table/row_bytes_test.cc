// The bytes of rows, of chunk headers and of a log's mark: round trips, and every byte damaged or cut off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "argosy/base/file.h"
#include "argosy/base/random.h"
#include "argosy/table/checksum.h"
#include "argosy/table/log_mark.h"
#include "argosy/table/row_layout.h"
#include "argosy/table/row_record.h"
#include "argosy/table/snapshot_format.h"

namespace argosy::table {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Bytes at a multiple of 8, as decode() wants them.
class Aligned {
 public:
  explicit Aligned(std::string_view bytes) : words_(bytes.size() / 8 + 1), size_(bytes.size()) {
    std::memcpy(words_.data(), bytes.data(), size_);
  }
  std::string_view view() const { return {reinterpret_cast<const char*>(words_.data()), size_}; }

 private:
  std::vector<uint64_t> words_;
  size_t size_;
};

TEST(RowBytes, ARowIsWhatItWasWhateverItsSizes) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    const RowCodec codec(1 + random.below(9), random.below(4));
    std::vector<float> value(codec.width()), states(codec.width() * codec.element_states());
    for (float& number : value) number = static_cast<float>(random.normal());
    for (float& number : states) number = static_cast<float>(random.normal());
    RowView row{.key = random(), .admitted = random.below(3) != 0};
    row.counters = {static_cast<uint32_t>(random()), static_cast<uint32_t>(random.below(kMaxPushes + 1ull)),
                    static_cast<uint32_t>(random()), 1.5f, 0.5f};
    if (row.admitted) row.value = value, row.states = states;
    std::string bytes = "before";
    codec.append(row, bytes);
    ASSERT_EQ(bytes.size(), 6 + codec.record_bytes()) << "all of one size, admitted or not";
    const Aligned record(std::string_view(bytes).substr(6));
    const auto read = codec.decode(record.view());
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_EQ(read->key, row.key);
    ASSERT_EQ(read->admitted, row.admitted);
    ASSERT_EQ(read->counters, row.counters);
    ASSERT_TRUE(std::ranges::equal(read->value, row.value) && std::ranges::equal(read->states, row.states));
  }
}

TEST(RowBytes, WhatNoAppendMakesIsDataLossAndNamesTheKey) {
  const RowCodec codec(2, 0);
  const std::vector<float> value{1, 2};
  std::string bytes;
  codec.append({.key = 4711, .counters = {.pushes = kMaxPushes}, .value = value}, bytes);
  ASSERT_TRUE(codec.decode(Aligned(bytes).view()).ok());
  for (size_t bit = 0; bit < 64; ++bit) {  // of the flags, at byte 8, and of the pushes, at byte 16
    std::string damaged = bytes;
    const size_t at = bit < 32 ? 8 + bit / 8 : 16 + (bit - 32) / 8;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit % 8));
    const Aligned record(damaged);
    const auto read = codec.decode(record.view());
    const bool possible = bit == 0 || (bit >= 32 && bit < 32 + 24);  // not admitted; fewer gradients
    ASSERT_EQ(read.ok(), possible) << "bit " << bit;
    if (read.ok()) continue;
    EXPECT_EQ(read.status().code(), Code::data_loss);
    EXPECT_THAT(read.status().message(), HasSubstr("the record of row 4711 "));
  }
}

TEST(RowBytes, OnlyWholeRecordsAreCounted) {
  const RowCodec codec(3, 1);
  for (size_t bytes = 0; bytes < 3 * codec.record_bytes(); ++bytes) {
    const auto count = codec.count(std::string(bytes, 'x'));
    ASSERT_EQ(count.ok(), bytes % codec.record_bytes() == 0) << bytes;
    if (count.ok()) {
      ASSERT_EQ(*count, bytes / codec.record_bytes());
    } else {
      ASSERT_EQ(count.status().code(), Code::data_loss);
    }
  }
}

// No two parts of a row overlap, whichever counters its table keeps; the row ends at a multiple of 8 bytes.
TEST(RowBytes, PartsOfARowHaveEachTheirPlace) {
  const auto adam = *optim::make_rule("adam");
  for (const bool ttl : {false, true}) {
    for (const bool clicks : {false, true}) {
      for (const optim::Rule* rule : {static_cast<const optim::Rule*>(nullptr), static_cast<const optim::Rule*>(adam.get())}) {
        SparseSpec spec{.name = "t", .width = 3};
        if (ttl) spec.expiry.ttl_seconds = 60;
        spec.show_click.enabled = clicks;
        const RowLayout layout(spec, rule);
        ASSERT_EQ(layout.bytes() % 8, 0u);
        std::vector<float> row(layout.words(), -7.0f);
        std::ranges::fill(layout.value(row.data()), 5.0f);
        layout.reset(row.data(), 99);
        for (const float number : layout.value(row.data())) EXPECT_EQ(number, 5) << "the value is left as it is";
        for (const float number : layout.states(row.data())) EXPECT_EQ(number, 0) << "Adam's moments begin at 0";
        std::ranges::fill(layout.states(row.data()), 6.0f);
        const RowCounters given{.seen_step = 11, .pushes = 12, .seen_seconds = 13, .show = 14, .click = 15};
        layout.set_counters(row.data(), given);
        const RowView view = layout.view(row.data());
        EXPECT_EQ(view.key, 99u);
        EXPECT_EQ(view.counters.pushes, 12u);
        EXPECT_EQ(view.counters.seen_seconds, ttl ? 13u : 0u) << "counters that a table does not need have no place";
        EXPECT_EQ(view.counters.show, clicks ? 14 : 0);
        EXPECT_EQ(view.counters.click, clicks ? 15 : 0);
        for (const float number : view.value) EXPECT_EQ(number, 5);
        for (const float number : view.states) EXPECT_EQ(number, 6);
        EXPECT_EQ(view.states.size(), rule == nullptr ? 0u : 6u);
      }
    }
  }
}

TEST(RowBytes, CountsStayAtTheirMost) {
  SparseSpec spec{.name = "t", .width = 1};
  spec.show_click.enabled = true;
  const RowLayout layout(spec, nullptr);
  std::vector<float> row(layout.words());
  layout.reset(row.data(), 1);
  layout.set_counters(row.data(), {.pushes = std::numeric_limits<uint32_t>::max()});
  EXPECT_EQ(layout.counters(row.data()).pushes, kMaxPushes);
  layout.count(row.data(), {.seen_step = 5, .show = 1, .click = 0.5f});
  layout.count(row.data(), {.seen_step = 6, .show = 1});
  EXPECT_EQ(layout.counters(row.data()), (RowCounters{.seen_step = 6, .pushes = kMaxPushes, .show = 2, .click = 0.5f}));
  EXPECT_EQ(RowLayout::header(row.data()).flags & RowHeader::kLive, RowHeader::kLive) << "a full count runs into no flag";
  RowCounters waiting{.pushes = kMaxPushes};
  count_gradient(waiting, {.seen_step = 3});
  EXPECT_EQ(waiting.pushes, kMaxPushes);
  EXPECT_EQ(waiting.seen_step, 3u);
}

TEST(ChunkBytes, AHeaderIsWhatItWasAndAnyFlippedBitIsSeen) {
  ChunkHeader header{.kind = SnapshotChunk::Kind::dense, .number = 3, .name_bytes = 5, .bytes = 40, .offset = 7, .count = 10};
  const std::string body = "name." + std::string(3 + 40, '\0');
  const Bytes piece = std::as_bytes(std::span(body));
  header.checksum = chunk_checksum(header, {&piece, 1});
  const ChunkHeaderBytes bytes = encode_chunk_header(header);
  const auto seen = [&](const ChunkHeaderBytes& found) {
    const auto read = decode_chunk_header(found);
    return !read || chunk_checksum(*read, {&piece, 1}) != read->checksum;
  };
  const auto read = decode_chunk_header(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->kind, header.kind);
  EXPECT_EQ(read->number, 3u);
  EXPECT_EQ(read->name_bytes, 5u);
  EXPECT_EQ(read->bytes, 40u);
  EXPECT_EQ(read->offset, 7u);
  EXPECT_EQ(read->count, 10u);
  EXPECT_FALSE(seen(bytes));
  for (size_t bit = 0; bit < 8 * kChunkHeaderSize; ++bit) {
    ChunkHeaderBytes damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_TRUE(seen(damaged)) << "bit " << bit;
  }
}

TEST(ChunkBytes, AChecksumIsOfThePiecesAsIfTheyWereOne) {
  const std::string text = "some bytes that are cut anywhere";
  const Bytes all = std::as_bytes(std::span(text));
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const Bytes pieces[] = {all.first(cut), all.subspan(cut)};
    EXPECT_EQ(checksum_of(pieces), checksum_of(all)) << cut;
  }
  EXPECT_NE(checksum_of(all.first(5)), checksum_of(all.first(6)));
}

class LogMarkTest : public testing::Test {
 protected:
  LogMarkTest() : folder_(fs::temp_directory_path() / fmt::format("argosy-mark-{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~LogMarkTest() override { fs::remove_all(folder_); }
  std::string text() const { return *read_file(folder_ / "SYNCED"); }
  void set_text(const std::string& text) const { std::ofstream(folder_ / "SYNCED", std::ios::binary | std::ios::trunc) << text; }

  fs::path folder_;
};

TEST_F(LogMarkTest, SaysWhatWasWrittenLast) {
  EXPECT_FALSE(read_mark(folder_).has_value());
  for (const uint64_t synced : {uint64_t{0}, uint64_t{123'456'789'012}, uint64_t{7}, uint64_t{1} << 62}) {
    ASSERT_TRUE(write_mark(folder_, {.synced = synced, .seconds = 0.1, .boot = boot_id()}).ok());
    const auto mark = read_mark(folder_);
    ASSERT_TRUE(mark.has_value());
    EXPECT_EQ(mark->synced, synced);
    EXPECT_EQ(mark->seconds, 0.1);
    EXPECT_EQ(mark->boot, boot_id());
  }
  remove_mark(folder_);
  remove_mark(folder_);
  EXPECT_FALSE(read_mark(folder_).has_value());
}

// "A mark that cannot be read says that nothing is known to be on the disk": no damage may make it say more than it did.
TEST_F(LogMarkTest, ADamagedMarkSaysNothing) {
  ASSERT_TRUE(write_mark(folder_, {.synced = 4096, .seconds = 1, .boot = "boot"}).ok());
  const std::string whole = text();
  const size_t end = whole.find('\n');
  for (size_t at = 0; at <= end; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      set_text(damaged);
      ASSERT_TRUE(read_mark(folder_).has_value()) << "there is one";
      ASSERT_EQ(read_mark(folder_)->synced, 0u) << "byte " << at << ", bit " << bit;
    }
    set_text(whole.substr(0, at));
    ASSERT_EQ(read_mark(folder_)->synced, 0u) << "cut at " << at;
  }
  set_text(whole.substr(0, end + 1));
  EXPECT_EQ(read_mark(folder_)->synced, 4096u) << "what follows the line does not count";
}

}  // namespace
}  // namespace argosy::table
