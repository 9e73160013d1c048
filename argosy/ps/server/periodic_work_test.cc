#include "argosy/ps/server/periodic_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "argosy/base/mutex.h"

namespace argosy::ps {
namespace {

// Work that is due often is done often, work that is due rarely rarely, and nothing once the server has stopped.
TEST(PeriodicWork, DoesEachWorkWhenItIsDue) {
  Ending ending("server 0");
  PeriodicWork work(ending);
  Mutex mutex;
  ConditionVariable changed;
  int often = 0;
  std::atomic<int> rarely = 0;
  double longest = 0;
  work.add(0, [&](double since) {
    MutexLock lock(mutex);
    ++often;
    longest = std::max(longest, since);
    changed.notify_all();
  });
  work.add(1000, [&](double) { ++rarely; });
  work.start();
  {
    MutexLock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return often >= 3; }));
  }
  EXPECT_TRUE(ending.stop());
  work.join();
  EXPECT_EQ(rarely, 0);
  EXPECT_GT(longest, 0);
}

}  // namespace
}  // namespace argosy::ps
