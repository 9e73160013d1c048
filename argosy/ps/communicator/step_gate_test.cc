#include "argosy/ps/communicator/step_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "argosy/base/thread.h"

namespace argosy::ps {
namespace {

TEST(StepGate, ManyStepsRunAtOnce) {
  StepGate gate;
  gate.enter_step();
  gate.enter_step();  // would wait for ever where one kept the other out
  gate.leave_step();
  gate.leave_step();
}

TEST(StepGate, AnExclusiveSectionWaitsForTheStepsAndKeepsNewOnesOut) {
  StepGate gate;
  gate.enter_step();
  std::future<void> exclusive = std::async(std::launch::async, [&] { gate.enter_exclusive(); });
  EXPECT_EQ(exclusive.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout);
  gate.leave_step();
  exclusive.get();
  std::future<void> step = std::async(std::launch::async, [&] { gate.enter_step(); });
  EXPECT_EQ(step.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout);
  gate.leave_exclusive();
  step.get();
  gate.leave_step();
}

// What the gate is for: nothing is trained while differences are taken, however many threads there are.
TEST(StepGate, NoStepIsWithinAnExclusiveSection) {
  StepGate gate;
  std::atomic<int> steps{0}, sections{0}, wrong{0};
  std::vector<Thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back("step", [&] {
      for (int k = 0; k < 2000; ++k) {
        gate.enter_step();
        ++steps;
        if (sections != 0) ++wrong;
        --steps;
        gate.leave_step();
      }
    });
  }
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back("exclusive", [&] {
      for (int k = 0; k < 500; ++k) {
        gate.enter_exclusive();
        if (++sections != 1 || steps != 0) ++wrong;
        --sections;
        gate.leave_exclusive();
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace argosy::ps
