// A table whose overflow cannot be written: nothing that was acknowledged is lost or reads as an old value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "argosy/table/log_scratch.h"
#include "argosy/table/oracle_test.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

using testing::HasSubstr;

// How many gradients each key has got, whatever the disk did meanwhile: -(value) of SGD at rate 1 with gradients of 1.
class CountedTable {
 public:
  explicit CountedTable(const StoreOptions& options)
      : table_(make({.name = "emb", .width = 4, .rule = "sgd"}, options)), counts_(kKeys) {}

  void push(std::mt19937_64& random) {
    std::vector<uint64_t> keys;
    for (uint64_t key = random() % 8; key < kKeys; key += 1 + random() % 40) keys.push_back(key);
    const std::vector<float> ones(keys.size() * 4, 1.0f);
    ASSERT_EQ(table_->apply(table_->begin_step(1.0f), keys, ones), Status()) << "it was logged, so it has to be done";
    for (const uint64_t key : keys) ++counts_[key];
  }

  uint64_t old_values() {
    uint64_t old = 0;
    for (uint64_t key = 0; key < kKeys; ++key) {
      if (pull(*table_, {key})[0] != -static_cast<float>(counts_[key])) ++old;
    }
    return old;
  }

  void wait_for_room() {
    const auto deadline = Deadline::after_seconds(30);
    while (!table_->check_room().ok() && !deadline.passed()) std::this_thread::yield();
    EXPECT_EQ(table_->check_room(), Status());
  }

  SparseTable& table() { return *table_; }

 private:
  static constexpr uint64_t kKeys = 2000;
  std::unique_ptr<SparseTable> table_;
  std::vector<int> counts_;
};

TEST(SparseTableOverflow, RowsThatCannotBeWrittenStayInMemory) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const ScratchFolder scratch;
  std::atomic<int> refuse = 0;  // so many writes
  const auto fault = [&] {
    if (refuse.load() == 0) return Status();
    --refuse;
    return Status::resource_exhausted("No space left on device");
  };
  CountedTable counted({.shards = 4, .mem_limit_bytes = 4'000, .directory = scratch / "cold", .overflow_fault = fault});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) counted.push(random);
    EXPECT_GT(counted.table().size().cold_rows, 0u) << "the test moves rows to disk";
    refuse = 1;
    for (int i = 0; i < 5; ++i) counted.push(random);
    EXPECT_EQ(refuse.load(), 0) << "a write was refused";
    EXPECT_EQ(counted.old_values(), 0u);
    counted.wait_for_room();
  }
}

// The limit cannot be kept while the disk is full: a call that would make more rows is told so, and goes on when there is room.
TEST(SparseTableOverflow, SaysThatThereIsNoRoomUntilThereIs) {
  std::mt19937_64 random(1);
  const ScratchFolder scratch;
  std::atomic<bool> full = true;
  const auto fault = [&] { return full ? Status::resource_exhausted("No space left on device") : Status(); };
  CountedTable counted({.shards = 4, .mem_limit_bytes = 4'000, .directory = scratch / "cold", .overflow_fault = fault});
  for (int round = 0; round < 3; ++round) counted.push(random);
  const Status told = counted.table().check_room();
  EXPECT_EQ(told.code(), Code::unavailable);
  EXPECT_THAT(told.message(), HasSubstr("table 'emb'"));
  EXPECT_THAT(told.message(), HasSubstr("No space left on device"));
  std::vector<float> row(4);
  const uint64_t key[] = {5000};
  EXPECT_EQ(counted.table().pull(key, row, true).code(), Code::unavailable);
  EXPECT_EQ(counted.table().pull(key, row, false), Status()) << "what is there can be read";
  EXPECT_EQ(counted.table().size().cold_rows, 0u);
  full = false;
  counted.wait_for_room();
  EXPECT_GT(counted.table().size().cold_rows, 0u);
  EXPECT_EQ(counted.old_values(), 0u);
}

// Another error than a full disk does not go away by itself.
TEST(SparseTableOverflow, ABrokenDiskIsDataLoss) {
  std::mt19937_64 random(1);
  const ScratchFolder scratch;
  CountedTable counted({.shards = 4, .mem_limit_bytes = 4'000, .directory = scratch / "cold", .overflow_fault = [] {
                          return Status::data_loss("Input/output error");
                        }});
  for (int round = 0; round < 3; ++round) counted.push(random);
  EXPECT_EQ(counted.table().check_room().code(), Code::data_loss);
  EXPECT_EQ(counted.old_values(), 0u);
}

}  // namespace
}  // namespace argosy::table
