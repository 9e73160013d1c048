#include "argosy/ps/server/ending.h"

#include <gmock/gmock.h>

#include <future>

namespace argosy::ps {
namespace {

using ::testing::HasSubstr;

Deadline soon() { return Deadline::after_seconds(0.05); }
Deadline patience() { return Deadline::after_seconds(30); }

TEST(Ending, WaitsUntilThereIsSomethingToEndFor) {
  Ending ending("server 0");
  EXPECT_FALSE(*ending.wait(soon()));
  auto waits = std::async(std::launch::async, [&] { return ending.wait(patience()); });
  ending.end();
  EXPECT_TRUE(*waits.get());
  EXPECT_FALSE(ending.is_refusing()) << "workers that are done may still ask";
}

TEST(Ending, TheFirstReasonNotToGoOnCounts) {
  Ending ending("server 0");
  EXPECT_THAT(ending.fatal(Status::data_loss("the disk is gone")).message(), HasSubstr("server 0 cannot go on"));
  (void)ending.fatal(Status::internal("and more"));
  EXPECT_EQ(ending.wait(soon()).status().code(), Code::data_loss);
  EXPECT_TRUE(ending.is_refusing());
  EXPECT_FALSE(ending.is_healthy());
}

TEST(Ending, IsStoppedOnce) {
  Ending ending("server 0");
  EXPECT_FALSE(ending.wait_for_stop(soon()));
  auto waits = std::async(std::launch::async, [&] { return ending.wait_for_stop(patience()); });
  EXPECT_TRUE(ending.stop());
  EXPECT_TRUE(waits.get());
  EXPECT_FALSE(ending.stop());
  EXPECT_TRUE(ending.is_refusing());
  EXPECT_TRUE(ending.is_healthy());
  EXPECT_TRUE(*ending.wait(soon()));
}

}  // namespace
}  // namespace argosy::ps
