#include "argosy/base/wake.h"

#include <gtest/gtest.h>

#include "argosy/base/poll.h"
#include "argosy/base/thread.h"

namespace argosy {
namespace {

bool is_awake(const Wake& wake) { return wait_readable(wake.fd(), Deadline::after_seconds(0)); }

TEST(Wake, IsReadableFromWakeToClear) {
  const Wake wake;
  EXPECT_FALSE(is_awake(wake));
  wake.wake();
  wake.wake();
  EXPECT_TRUE(is_awake(wake));
  EXPECT_TRUE(is_awake(wake)) << "looking does not clear it";
  wake.clear();
  EXPECT_FALSE(is_awake(wake)) << "however often it was woken";
  wake.clear();
  EXPECT_FALSE(is_awake(wake));
}

TEST(Wake, EndsAPollOfAnotherThread) {
  const Wake wake;
  Thread other("wake", [&] { wake.wake(); });
  EXPECT_TRUE(wait_readable(wake.fd(), Deadline::after_seconds(30)));
  other.join();
}

}  // namespace
}  // namespace argosy
