// What a server does for long is seen while it does it: the launcher's line and pages have it from running_work().
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "argosy/base/progress.h"
#include "argosy/ps/server/follower_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;

TEST(RecoveryProgress, IsShownFromTheLogsBeginningToItsEnd) {
  Folder folder;
  Primary primary(primary_options(folder));
  Worker worker(link_to(primary), small_job(), 0, 5);
  ASSERT_OK(worker.hello());
  for (uint32_t batch = 0; batch < 2000; ++batch) ASSERT_OK(worker.push({batch_id(0, batch)}, {count_at({batch, batch + 1})}));
  double first = 2, last = -1;
  // It takes milliseconds, in which the watcher may not run on a busy machine: then the log is replayed once more.
  for (int start = 0; start < 100 && (first >= 0.5 || last <= 0.5); ++start) {
    primary.kill();
    EXPECT_TRUE(running_work().empty());
    std::atomic<bool> over = false;
    std::thread watcher([&] {
      while (!over) {
        for (const RunningWork& work : running_work()) {
          if (work.what != "recovery" || !work.ratio) continue;
          first = std::min(first, *work.ratio);
          last = std::max(last, *work.ratio);
        }
      }
    });
    primary.start();
    over = true;
    watcher.join();
  }
  EXPECT_LT(first, 0.5);
  EXPECT_GT(last, 0.5);
  EXPECT_LE(last, 1);
  EXPECT_TRUE(running_work().empty());
}

}  // namespace
}  // namespace argosy::ps
