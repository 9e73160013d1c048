#include "argosy/base/queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include "argosy/base/thread.h"

namespace argosy {
namespace {

const auto kShort = std::chrono::milliseconds(20);

TEST(Queue, AFullQueueMakesTheProducerWaitUntilItsDeadline) {
  Queue<int> queue(1);
  EXPECT_EQ(queue.push(1, Deadline::after_seconds(5)), QueueState::ok);
  EXPECT_EQ(queue.push(2, Deadline::after(kShort)), QueueState::timed_out);
}

TEST(Queue, AnItemThatIsNotTakenStaysWithItsOwner) {
  Queue<std::string> queue(1);
  std::string first = "first", second = "second";
  ASSERT_EQ(queue.push(std::move(first), Deadline::after_seconds(5)), QueueState::ok);
  ASSERT_EQ(queue.push(std::move(second), Deadline::after(kShort)), QueueState::timed_out);
  EXPECT_EQ(second, "second");
}

TEST(Queue, CloseLetsConsumersDrainWhatIsLeft) {
  Queue<int> queue(4);
  ASSERT_EQ(queue.push(1, Deadline::after_seconds(5)), QueueState::ok);
  queue.close();
  EXPECT_EQ(queue.push(2, Deadline::after_seconds(5)), QueueState::closed);
  int item = 0;
  EXPECT_EQ(queue.pop(item, Deadline::after_seconds(5)), QueueState::ok);
  EXPECT_EQ(queue.pop(item, Deadline::after_seconds(5)), QueueState::closed);
}

TEST(Queue, EveryItemArrivesOnceWithSeveralProducersAndConsumers) {
  constexpr int kEach = 2000;
  Queue<int> queue(8);
  std::atomic<int64_t> sum{0};
  std::atomic<int> count{0};
  {
    std::vector<Thread> consumers, producers;
    for (int i = 0; i < 3; ++i) {
      consumers.emplace_back("consumer", [&] {
        int item = 0;
        while (queue.pop(item, Deadline::after_seconds(30)) == QueueState::ok) sum += item, ++count;
      });
    }
    for (int i = 0; i < 3; ++i) {
      producers.emplace_back("producer", [&] {
        for (int k = 1; k <= kEach; ++k) ASSERT_EQ(queue.push(int{k}, Deadline::after_seconds(30)), QueueState::ok);
      });
    }
    producers.clear();
    queue.close();
  }
  EXPECT_EQ(count, 3 * kEach);
  EXPECT_EQ(sum, int64_t{3} * kEach * (kEach + 1) / 2);
}

}  // namespace
}  // namespace argosy
