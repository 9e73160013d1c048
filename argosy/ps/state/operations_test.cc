#include "argosy/ps/state/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

wire::Operation operation(uint64_t position, const std::string& kind = "save", const std::string& target = "model",
                          uint32_t occurrence = 0) {
  wire::Operation made;
  made.set_kind(kind);
  made.set_target(target);
  made.set_position(position);
  made.set_occurrence(occurrence);
  return made;
}

TEST(Operations, OneIsDoneForItsWorkerPlaceKindTargetAndTurnOnly) {
  Operations operations(2);
  operations.begin_run(7);
  operations.end(0, operation(batch_id(1, 0)), "first");
  EXPECT_TRUE(operations.done(0, operation(batch_id(1, 0))));
  EXPECT_EQ(operations.find(0, operation(batch_id(1, 0))).answer(), "first");
  EXPECT_FALSE(operations.done(1, operation(batch_id(1, 0))));
  for (const wire::Operation& other :
       {operation(batch_id(2, 0)), operation(0), operation(batch_id(1, 1)), operation(batch_id(1, 0), "load"),
        operation(batch_id(1, 0), "save", "other"), operation(batch_id(1, 0), "save", "model", 1)}) {
    EXPECT_FALSE(operations.done(0, other)) << other.DebugString();
    EXPECT_FALSE(operations.find(0, other).done());
  }
  operations.end(0, operation(batch_id(1, 0)), "second");
  EXPECT_EQ(operations.find(0, operation(batch_id(1, 0))).answer(), "first") << "what was done stays";
}

TEST(Operations, NumbersAreOfTheOperationAndTheRun) {
  std::set<uint64_t> numbers;
  for (const uint64_t run : {1, 2}) {
    Operations operations(2);
    operations.begin_run(run);
    operations.begin_run(99);  // another worker comes
    for (const uint32_t worker : {0, 1}) {
      for (const wire::Operation& one : {operation(0), operation(1), operation(0, "sa", "vemodel"),
                                         operation(0, "save", "model", 1), operation(0, "", "savemodel")}) {
        const uint64_t number = operations.find(worker, one).number();
        EXPECT_NE(number, 0u);
        EXPECT_EQ(operations.find(worker, one).number(), number);
        numbers.insert(number);
      }
    }
  }
  EXPECT_EQ(numbers.size(), 20u);
}

TEST(Operations, AnImageHasThemAll) {
  Operations operations(3), restored(3);
  operations.begin_run(5);
  operations.end(0, operation(3), std::string("a\0b", 3));
  operations.end(2, operation(batch_id(1, 0), "load"), "c");
  wire::OperationsImage image;
  operations.save(&image);
  restored.end(1, operation(8), "of a state before");
  ASSERT_TRUE(restored.restore(image).ok());
  EXPECT_EQ(restored.find(0, operation(3)).answer(), std::string("a\0b", 3));
  EXPECT_TRUE(restored.done(2, operation(batch_id(1, 0), "load")));
  EXPECT_FALSE(restored.done(1, operation(8)));
  EXPECT_EQ(restored.find(0, operation(9)).number(), operations.find(0, operation(9)).number());
  EXPECT_EQ(restored.bytes(), operations.bytes());
  Operations smaller(2);
  EXPECT_EQ(smaller.restore(image).code(), Code::data_loss);
}

// A rate that is set at every step of a long job: memory stays bounded, and what was dropped counts as done.
TEST(Operations, OldPlacesAreDroppedAndCountAsDone) {
  Operations operations(2, {.operations_bytes = 8000, .answer_bytes = 100});
  for (uint64_t position = 0; position < 1000; ++position) {
    ASSERT_TRUE(operations.check(0, operation(position)).ok());
    operations.end(0, operation(position), "x");
  }
  operations.end(1, operation(0), "y");
  EXPECT_LE(operations.bytes(), 5000u);
  EXPECT_EQ(operations.find(1, operation(0)).answer(), "y") << "another worker's share";
  wire::OperationsImage image;
  operations.save(&image);
  Operations restored(2, {.operations_bytes = 8000});
  ASSERT_TRUE(restored.restore(image).ok());
  for (const Operations* one : {&operations, &restored}) {
    EXPECT_TRUE(one->find(0, operation(0)).done());
    EXPECT_TRUE(one->find(0, operation(0)).dropped());
    EXPECT_EQ(one->find(0, operation(999)).answer(), "x");
    EXPECT_FALSE(one->find(0, operation(999)).dropped());
    EXPECT_FALSE(one->done(0, operation(1000)));
  }
}

// Those of one place cannot be dropped: the worker may still be there.
TEST(Operations, WhatDoesNotFitIsRefusedByName) {
  Operations operations(1, {.operations_bytes = 4000, .answer_bytes = 10, .name_bytes = 50});
  operations.end(0, operation(1), "");
  uint32_t done = 0;
  while (operations.check(0, operation(5, "save", "model", done)).ok()) {
    ASSERT_LT(done, 100u);
    operations.end(0, operation(5, "save", "model", done++), "");
  }
  const Status refused = operations.check(0, operation(5, "save", "model", done));
  EXPECT_EQ(refused.code(), Code::resource_exhausted);
  EXPECT_THAT(refused.message(), HasSubstr("operations_bytes"));
  EXPECT_TRUE(operations.check(0, operation(5)).ok()) << "one that is done is answered";
  EXPECT_TRUE(operations.check(0, operation(6)).ok()) << "it has trained on";
  EXPECT_TRUE(operations.find(0, operation(1)).dropped());
  EXPECT_EQ(operations.check_answer(operation(6), 11).code(), Code::invalid_argument);
  EXPECT_EQ(operations.check(0, operation(6, "save", std::string(60, 'x'))).code(), Code::invalid_argument);
  EXPECT_EQ(operations.check(0, operation(6, "")).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace argosy::ps
