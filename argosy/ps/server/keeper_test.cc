#include "argosy/ps/server/keeper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "argosy/base/mutex.h"

namespace argosy::ps {
namespace {

// Work that is due often is done often, work that is due rarely rarely, and nothing once the server has stopped.
TEST(Keeper, DoesEachWorkWhenItIsDue) {
  Ending ending("server 0");
  Keeper keeper(ending);
  Mutex mutex;
  ConditionVariable changed;
  int often = 0;
  std::atomic<int> rarely = 0;
  double longest = 0;
  keeper.add(0, [&](double since) {
    MutexLock lock(mutex);
    ++often;
    longest = std::max(longest, since);
    changed.notify_all();
  });
  keeper.add(1000, [&](double) { ++rarely; });
  keeper.start();
  {
    MutexLock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return often >= 3; }));
  }
  EXPECT_TRUE(ending.stop());
  keeper.join();
  EXPECT_EQ(rarely, 0);
  EXPECT_GT(longest, 0);
}

}  // namespace
}  // namespace argosy::ps
