// A table whose overflow is slow: calls for rows in memory do not wait for it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "argosy/table/log_scratch.h"
#include "argosy/table/oracle_test.h"
#include "argosy/table/sparse_table.h"

namespace argosy::table {
namespace {

// The disk does not answer; what is in memory can be used meanwhile, and of what is on disk everything can be read.
class StuckDisk {
 public:
  Status wait() {
    if (!stuck_) return {};
    ++waiting_;
    const auto deadline = Deadline::after_seconds(60);
    while (stuck_ && !deadline.passed()) std::this_thread::yield();
    if (stuck_) gave_up_ = true;
    return {};
  }
  void wait_for_caller() const {
    const auto deadline = Deadline::after_seconds(60);
    while (waiting_ == 0 && !deadline.passed()) std::this_thread::yield();
    EXPECT_GT(waiting_.load(), 0);
  }
  void stick() { stuck_ = true; }
  void answer() { stuck_ = false; }
  bool gave_up() const { return gave_up_; }

 private:
  std::atomic<bool> stuck_ = false, gave_up_ = false;
  std::atomic<int> waiting_ = 0;
};

class SparseTableStuckDisk : public testing::Test {
 protected:
  SparseTableStuckDisk() {
    push(0, 400);
    EXPECT_GT(table_->size().cold_rows, 100u);
    in_memory_ = 399;
    EXPECT_EQ(table_->pull(std::vector{in_memory_}, row_, true), Status());
  }
  void push(uint64_t from, uint64_t to) {
    std::vector<uint64_t> keys;
    for (uint64_t key = from; key < to; ++key) keys.push_back(key);
    EXPECT_EQ(table_->apply(table_->begin_step(1), keys, std::vector<float>(keys.size(), -1.0f)), Status());
  }
  void use_what_is_in_memory() {
    for (int i = 2; i < 10; ++i) {
      push(in_memory_, in_memory_ + 1);
      EXPECT_EQ(pull(*table_, {in_memory_}), std::vector<float>{static_cast<float>(i)});
    }
  }

  const ScratchFolder scratch_;
  StuckDisk writes_, reads_;
  std::unique_ptr<SparseTable> table_ =
      make({.name = "emb", .width = 1, .rule = "sgd"},
           {.shards = 1, .mem_limit_bytes = 5'000, .directory = scratch_ / "cold", .overflow_fault = [this] {
              return writes_.wait();
            }});
  std::vector<float> row_ = {0};
  uint64_t in_memory_ = 0;
};

TEST_F(SparseTableStuckDisk, DoesNotHoldUpCallsWhileItIsWritten) {
  writes_.stick();
  std::thread evicting([&] { push(400, 420); });
  writes_.wait_for_caller();
  use_what_is_in_memory();
  EXPECT_EQ(pull(*table_, {0, 1, 2}), (std::vector<float>{1, 1, 1})) << "on disk";
  EXPECT_EQ(pull(*table_, {400, 419}), (std::vector<float>{1, 1})) << "on their way";
  EXPECT_FALSE(writes_.gave_up());
  writes_.answer();
  evicting.join();
  for (uint64_t key = 0; key < 420; ++key) EXPECT_EQ(pull(*table_, {key})[0], key == in_memory_ ? 9 : 1) << key;
}

TEST_F(SparseTableStuckDisk, DoesNotHoldUpCallsWhileItIsRead) {
  table_->set_overflow_read_fault([this] { return reads_.wait(); });
  reads_.stick();
  std::thread reading([&] { EXPECT_EQ(pull(*table_, {0, 1, 2}, true), (std::vector<float>{1, 1, 1})); });
  reads_.wait_for_caller();
  use_what_is_in_memory();
  EXPECT_FALSE(reads_.gave_up());
  reads_.answer();
  reading.join();
}

}  // namespace
}  // namespace argosy::table
