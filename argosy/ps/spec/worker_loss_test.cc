#include "argosy/ps/spec/worker_loss.h"

#include <gtest/gtest.h>

namespace argosy::ps {
namespace {

// The launcher shows the cause of a failure by what is read here.
TEST(Loss, TheErrorOfALossNamesTheWorker) {
  const Status lost = lost_error("worker 12 (host:4711), which ended with status 1");
  EXPECT_EQ(lost_worker(lost), "worker 12");
  EXPECT_EQ(lost_worker(lost.with_context("server 0 (127.0.0.1:6170)")), "worker 12");
  EXPECT_EQ(lost_worker(Status::failed_precondition("another schema: table 'w'")), std::nullopt);
  EXPECT_EQ(lost_worker(Status::deadline_exceeded("lost: worker 1")), std::nullopt);
}

}  // namespace
}  // namespace argosy::ps
