#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include "argosy/base/random.h"
#include "argosy/table/dense_table.h"
#include "argosy/table/log_scratch.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

SparseSpec counting(Admission::Kind admission = Admission::Kind::all) {
  SparseSpec spec;
  spec.name = "rows";
  spec.width = 2;
  spec.admission.kind = admission;
  spec.admission.count = 2;
  return spec;
}

void count(SparseTable& table, std::vector<uint64_t> keys) {
  const std::vector<float> gradients(keys.size() * 2, -1.0f);
  const Status status = table.apply(table.begin_step(1), keys, gradients);
  ASSERT_TRUE(status.ok()) << status.message();
}

// A row, or the counters of a waiting key.
struct Seen {
  bool admitted = false;
  uint32_t pushes = 0;
  float value = 0;
  friend bool operator==(const Seen&, const Seen&) = default;
};
using Rows = std::map<uint64_t, Seen>;

Rows rows_in(const SparseTable& table, std::string_view records) {
  Rows rows;
  const size_t bytes = table.codec().record_bytes();
  EXPECT_EQ(records.size() % bytes, 0u);
  for (size_t at = 0; at < records.size(); at += bytes) {
    const auto row = table.codec().decode(records.substr(at, bytes));
    EXPECT_TRUE(row.ok());
    const bool is_new =
        rows.emplace(row->key, Seen{row->admitted, row->counters.pushes, row->admitted ? row->value[0] : 0.0f}).second;
    EXPECT_TRUE(is_new) << "key " << row->key << " comes twice";
  }
  return rows;
}

template <typename Reader>
Rows read_all(const SparseTable& table, Reader& reader, size_t piece = 1 << 20) {
  std::string records;
  for (;;) {
    const auto more = reader.next(piece, records);
    EXPECT_TRUE(more.ok()) << more.status().message();
    if (!more.ok() || !*more) return rows_in(table, records);
  }
}

Rows rows_of(const SparseTable& table) {
  auto rows = table.begin_export();
  return read_all(table, rows);
}

std::vector<uint64_t> keys_of(uint64_t begin, uint64_t end) {
  std::vector<uint64_t> keys;
  for (uint64_t key = begin; key < end; ++key) keys.push_back(key);
  return keys;
}

// Whatever is done to a table after the cut, the cut has the rows and waiting keys of its moment, each once.
class TableCut : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<SparseTable> make(SparseSpec spec) {
    StoreOptions options{.shards = 4};
    if (GetParam()) {  // most rows are on disk
      options.mem_limit_bytes = 4000;
      options.directory = scratch_ / "cold";
    }
    return std::move(SparseTable::make(std::move(spec), options)).value();
  }
  const ScratchFolder scratch_;
};

TEST_P(TableCut, IsTheMomentWhateverHappensToRowsLater) {
  SparseSpec spec = counting();
  spec.show_click = {.enabled = true, .non_click_weight = 1, .click_weight = 1, .decay = 0.5f};
  const auto table = make(spec);
  count(*table, keys_of(0, 1000));
  count(*table, keys_of(0, 500));
  const Rows before = rows_of(*table);
  ASSERT_EQ(before.size(), 1000u);
  auto cut = table->begin_cut();
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->rows(), 1000u);
  EXPECT_EQ(cut->progress().steps, 2u);
  count(*table, keys_of(250, 1500));                                        // changed and new
  ASSERT_TRUE(table->erase(keys_of(0, 100)).ok());                          // dropped
  count(*table, keys_of(50, 150));                                          // and made again
  ASSERT_TRUE(table->set_rows(keys_of(600, 700), std::vector<float>(200, 9)).ok());
  ASSERT_TRUE(table->shrink({.unseen_steps = 2}, 0).ok());
  std::vector<float> pulled(2 * 2000);
  ASSERT_TRUE(table->pull(keys_of(0, 2000), pulled, true).ok());
  std::string records;
  ASSERT_TRUE(*cut->next(1, records));
  count(*table, keys_of(0, 1500));  // in the middle
  ASSERT_TRUE(table->erase(keys_of(900, 1000)).ok());
  std::string rest;
  while (*cut->next(1000, rest)) {
    records += std::exchange(rest, {});
    count(*table, keys_of(0, 1000));
  }
  EXPECT_EQ(rows_in(*table, records), before);
  const Rows now = rows_of(*table);
  {
    const auto done = std::move(cut);
  }
  auto second = table->begin_cut();
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ(read_all(*table, *second), now) << "no mark of the first one is left";
}

TEST_P(TableCut, HasWaitingKeysAsTheyWere) {
  const auto table = make(counting(Admission::Kind::count));
  count(*table, keys_of(0, 100));
  count(*table, keys_of(0, 50));  // admitted
  const Rows before = rows_of(*table);
  auto cut = table->begin_cut();
  ASSERT_TRUE(cut.ok());
  count(*table, keys_of(40, 200));  // some are admitted now, others are new
  ASSERT_TRUE(table->erase(keys_of(90, 100)).ok());
  EXPECT_EQ(read_all(*table, *cut), before);
}

TEST_P(TableCut, LeavesNoMarksWhereItIsGivenUp) {
  const auto table = make(counting());
  count(*table, keys_of(0, 300));
  {
    auto cut = table->begin_cut();
    ASSERT_TRUE(cut.ok());
    EXPECT_EQ(table->begin_cut().status().code(), Code::failed_precondition);
    std::string some;
    ASSERT_TRUE(*cut->next(1, some));
    count(*table, keys_of(100, 400));
  }
  const Rows now = rows_of(*table);
  auto cut = table->begin_cut();
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(read_all(*table, *cut), now);
}

// A row that is made at a place which was read, but was free, is none of this cut, and has to be in the next one.
TEST_P(TableCut, LeavesNoMarksOnRowsThatAreMadeWhileItIsRead) {
  const auto table = make(counting());
  count(*table, keys_of(0, 300));
  ASSERT_TRUE(table->erase(keys_of(100, 300)).ok());
  const Rows before = rows_of(*table);
  {
    auto cut = table->begin_cut();
    ASSERT_TRUE(cut.ok());
    std::string records;
    uint64_t key = 1000;
    while (*cut->next(1, records)) {
      count(*table, keys_of(key, key + 50));
      key += 50;
    }
    EXPECT_EQ(rows_in(*table, records), before);
  }
  const Rows now = rows_of(*table);
  ASSERT_GT(now.size(), 150u);
  auto second = table->begin_cut();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(read_all(*table, *second), now);
}

// Rows on disk that expire after the cut are its rows nevertheless, also where they are made again.
TEST_P(TableCut, HasRowsThatExpireAndAreMadeAgain) {
  const auto table = make(counting());
  count(*table, keys_of(0, 1000));
  for (int i = 0; i < 3; ++i) count(*table, {5000});
  const Rows before = rows_of(*table);
  auto cut = table->begin_cut();
  ASSERT_TRUE(cut.ok());
  ASSERT_TRUE(table->shrink({.unseen_steps = 2}, 0).ok());
  count(*table, keys_of(0, 1000));
  EXPECT_EQ(read_all(*table, *cut), before);
}

INSTANTIATE_TEST_SUITE_P(Memory, TableCut, testing::Bool(), [](const auto& info) { return info.param ? "Cold" : "Hot"; });

// Pushes from several threads while the cut is read: each row has the count that it had.
TEST(SparseTable, IsCutWhileOthersPush) {
  const auto table = std::move(SparseTable::make(counting())).value();
  for (int i = 0; i < 3; ++i) count(*table, keys_of(0, 20'000));
  auto cut = table->begin_cut();
  ASSERT_TRUE(cut.ok());
  std::atomic<bool> done = false;
  std::vector<std::thread> pushers;
  for (uint64_t i = 0; i < 2; ++i) {
    pushers.emplace_back([&, i] {
      Random random(i);
      while (!done) {
        const uint64_t from = random() % 30'000;
        count(*table, keys_of(from, from + 500));
      }
    });
  }
  const Rows rows = read_all(*table, *cut, 4096);
  done = true;
  for (std::thread& thread : pushers) thread.join();
  ASSERT_EQ(rows.size(), 20'000u);
  for (const auto& [key, row] : rows) ASSERT_EQ(row, (Seen{true, 3, 3})) << key;
}

TEST(SparseTable, TakesTheRowsOfAnother) {
  const auto table = std::move(SparseTable::make(counting())).value();
  const auto other = std::move(SparseTable::make(counting())).value();
  count(*table, {1, 2});
  count(*other, {2, 3});
  count(*other, {3});
  const Rows expected = rows_of(*other);
  ASSERT_TRUE(table->swap_rows(*other).ok());
  EXPECT_EQ(rows_of(*table), expected);
  EXPECT_EQ(table->steps(), 2u);
  count(*table, {3, 4});
  EXPECT_EQ(rows_of(*table).at(3).value, 3);
  SparseSpec wide = counting();
  wide.width = 3;
  const auto wider = std::move(SparseTable::make(wide)).value();
  EXPECT_EQ(table->swap_rows(*wider).code(), Code::failed_precondition);
  const auto cut = table->begin_cut();
  EXPECT_EQ(table->swap_rows(*other).code(), Code::failed_precondition);
}

// Readers on other threads see the rows of one table or of the other, also those on disk, while the two change places.
TEST(SparseTable, TakesTheRowsOfAnotherWhileOthersRead) {
  const ScratchFolder folder;
  const StoreOptions small{.mem_limit_bytes = 1, .directory = folder / "table"};
  const StoreOptions also_small{.mem_limit_bytes = 1, .directory = folder / "other"};
  const auto table = std::move(SparseTable::make(counting(), small)).value();
  const auto other = std::move(SparseTable::make(counting(), also_small)).value();
  count(*table, keys_of(0, 5'000));
  for (int i = 0; i < 2; ++i) count(*other, keys_of(0, 5'000));
  std::atomic<bool> done = false;
  std::thread puller([&] {
    std::vector<float> values(2 * 100);
    for (uint64_t from = 0; !done; from = (from + 100) % 5'000) {
      ASSERT_TRUE(table->pull(keys_of(from, from + 100), values, false).ok());
      for (const float value : values) ASSERT_TRUE(value == 1 || value == 2) << value;
    }
  });
  std::thread exporter([&] {
    while (!done) {
      auto rows = table->begin_export();
      std::string records;
      while (*rows.next(4096, records)) {
      }
    }
  });
  for (int i = 0; i < 51; ++i) ASSERT_TRUE(table->swap_rows(*other).ok());
  done = true;
  puller.join();
  exporter.join();
  for (const auto& [key, row] : rows_of(*table)) ASSERT_EQ(row.value, 2) << key;
}

TEST(DenseTableCut, IsTheMomentWhateverHappensLater) {
  const auto table = std::move(DenseTable::make({.name = "w", .size = 10, .rule = "adam"})).value();
  ASSERT_TRUE(table->set(std::vector<float>(10, 5)).ok());
  ASSERT_TRUE(table->apply(0.1f, std::vector<float>(10, 1)).ok());
  const std::string before = table->export_bytes();
  for (const uint64_t first : {0u, 3u, 10u}) {  // elements that are read before the change
    auto cut = table->begin_cut();
    ASSERT_TRUE(cut.ok());
    EXPECT_EQ(table->begin_cut().status().code(), Code::failed_precondition);
    const std::string head = cut->next(first);
    const std::string now = table->export_bytes();
    ASSERT_TRUE(table->apply(0.1f, std::vector<float>(10, -2)).ok());
    ASSERT_TRUE(table->apply(0.1f, std::vector<float>(10, -2)).ok());
    const std::string tail = cut->next(10 - first);
    EXPECT_NE(table->export_bytes(), now);
    const auto floats = [](const std::string& bytes, size_t array, size_t size, size_t at) {
      float value = 0;
      std::memcpy(&value, bytes.data() + 32 + 8 + (array * size + at) * sizeof(float), sizeof value);  // two scalars
      return value;
    };
    for (size_t array = 0; array < 3; ++array) {
      for (size_t i = 0; i < 10; ++i) {
        const float found = i < first ? floats(head, array, first, i) : floats(tail, array, 10 - first, i - first);
        EXPECT_EQ(found, floats(now, array, 10, i)) << "array " << array << " element " << i << " after " << first;
      }
    }
    EXPECT_EQ(head.substr(8, 8), now.substr(8, 8)) << "steps";
    EXPECT_EQ(tail.substr(32, 8), now.substr(32, 8)) << "scalars";
  }
  EXPECT_NE(table->export_bytes(), before);
}

}  // namespace
}  // namespace argosy::table
